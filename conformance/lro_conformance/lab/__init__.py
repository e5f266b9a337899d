"""Starts servers under chosen settings, and makes calls on them."""
