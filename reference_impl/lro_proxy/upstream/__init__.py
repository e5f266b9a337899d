"""Servers behind the proxy: over stdio, over HTTP."""
