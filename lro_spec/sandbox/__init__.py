"""Untrusted programs, run in a child process under limits: jq, regular expressions, and jobs of other packages.

`process.Sandbox` starts `worker`, which loads one job (a Python file) and runs it on one request after the other.
"""
