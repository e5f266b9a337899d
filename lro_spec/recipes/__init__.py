"""The jq recipes of the editions (section "Standard jq Recipe Library"): rendering, parsing, running, comparing.

`render.render` writes the recipes for a file. `pipeline.parse_command` parses a command, `runner.run` runs it without a
shell, `oracle.evaluate` computes the expected output of a standard recipe, `compare.agrees` compares the actual output
with the expected one, and `compare.probe` makes a recipe search for a different word.
"""
