"""Observations of a server: its calls, the files that it wrote, the records in them, and its starts."""

from lro_conformance.capture import reproduce as reproduce  # registers the renderings of captured records
