"""The job that runs Python code of `python_exec`: one namespace per conversation, with the corpus's pages if given."""

from __future__ import annotations

import collections
import contextlib
import heapq
import io
import json
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from lro_spec.sandbox.worker import Context, Run


def prepare(context: Context) -> Run:
    """Make the namespace; a new process has an empty one."""
    pages: list[dict[str, Any]] = context.options["pages"]
    spaces: dict[str, dict[str, Any]] = {}

    def list_memories(page: int = 1) -> dict[str, Any]:
        """A copy of one page, so that code that changes it does not change the results of other calls."""
        return json.loads(json.dumps(pages[page - 1]))

    def new_space() -> dict[str, Any]:
        # heapq, because Counter.most_common imports it when it is called, and a sealed process imports nothing
        space: dict[str, Any] = {"json": json, "re": re, "collections": collections, "heapq": heapq}
        space["Counter"] = collections.Counter
        return {**space, "list_memories": list_memories} if pages else space

    def run(request: dict[str, Any], _data: bytes) -> tuple[dict[str, Any], bytes]:
        if request["conversation"] not in spaces:
            spaces.clear()  # conversations must not see each other's names
            spaces[request["conversation"]] = new_space()
        space = spaces[request["conversation"]]
        printed = io.StringIO()
        problem = ""
        with contextlib.redirect_stdout(printed):
            try:
                exec(compile(request["code"], "<python_exec>", "exec"), space)
            except Exception as error:
                problem = f"{type(error).__name__}: {error}"
        return {"problem": problem}, printed.getvalue().encode("utf-8", "replace")

    return run
