"""The job that searches the lines of files by a regular expression."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from lro_spec.sandbox.worker import Context, Run


def prepare(context: Context) -> Run:
    """The function that searches the files that were passed to the sandbox, one after the other."""

    def run(request: dict[str, Any], _data: bytes) -> tuple[dict[str, Any], bytes]:
        """The numbers of the first ``limit`` matching lines, counted from 1 across all files, each on a line of its
        own."""
        try:
            pattern = re.compile(request["pattern"], 0 if request["case_sensitive"] else re.IGNORECASE)
        except (re.error, OverflowError, RecursionError) as problem:
            message = " ".join(str(problem).split())[:300]
            problem_text = f"the pattern is not a valid regular expression: {message}"
            return {"problem": problem_text, "invalid_pattern": True}, b""
        matching_numbers = bytearray()
        number = count = 0
        for file in context.files:
            for line in file:
                number += 1
                if pattern.search(line.decode("utf-8", "replace").rstrip("\n")):
                    matching_numbers += b"%d\n" % number
                    count += 1
                    if len(matching_numbers) > request["max_output"]:
                        return {"problem": "", "too_large": True}, bytes(matching_numbers[: request["max_output"]])
                    if count == request["limit"]:
                        return {"problem": "", "too_large": False}, bytes(matching_numbers)
        return {"problem": "", "too_large": False}, bytes(matching_numbers)

    return run
