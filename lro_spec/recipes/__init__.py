"""The jq recipes of the editions (section "Standard jq Recipe Library"): making, understanding, running, comparing.

`render.render` makes the recipes for a file. `pipeline.parse_command` understands a command, `runner.run` runs it
without a shell, `oracle.evaluate` works out what a standard recipe means, `compare.agrees` compares the two, and
`compare.probe` lets a recipe look for something else.
"""
