"""Mutation testing of the checks and of validation: small changes to our own code, which the tests must detect."""
