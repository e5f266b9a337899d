"""Servers of the editions beside the default one, and of the newer protocol: sound ones and broken ones."""
