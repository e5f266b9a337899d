"""The weight of a server's own results: its read-only tools are called, and each result is measured.

`calls` decides what is called, `measure` weighs one result, `weighing` starts the server, `report` renders, `register`
weighs published servers.
"""
