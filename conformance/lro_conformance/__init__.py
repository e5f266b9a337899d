"""The conformance suite for Large Result Offloading: it certifies any MCP server over stdio."""

PROFILE_NAME = "lro.yaml"
"""The name of the profile that is used if the working directory has it."""
