"""The conformance suite for Large Result Offloading: it certifies any MCP server over stdio."""

PROFILE_NAME = "lro.yaml"
"""The profile that is used when it lies in the working directory."""
