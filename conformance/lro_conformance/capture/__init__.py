"""Observations of a server: calls, files, records, starts."""

from lro_conformance.capture import reproduce as reproduce  # registers the renderings of captured records
