"""The job that runs the Python code of `python_exec`.

Each conversation has a namespace of its own. If pages of the corpus are given, it has the function `list_memories`.
"""

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
    """Return the function that runs code. There is no namespace yet; the first code of a conversation makes it."""
    pages: list[dict[str, Any]] = context.options["pages"]
    namespaces: dict[str, dict[str, Any]] = {}

    def list_memories(page: int = 1) -> dict[str, Any]:
        """A copy of one page. Code may change the copy without an effect on the results of other calls."""
        return json.loads(json.dumps(pages[page - 1]))

    def new_namespace() -> dict[str, Any]:
        # heapq is imported here because Counter.most_common would import it when called, and a sealed process cannot
        namespace: dict[str, Any] = {"json": json, "re": re, "collections": collections, "heapq": heapq}
        namespace["Counter"] = collections.Counter
        return {**namespace, "list_memories": list_memories} if pages else namespace

    def run(request: dict[str, Any], _data: bytes) -> tuple[dict[str, Any], bytes]:
        if request["conversation"] not in namespaces:
            namespaces.clear()  # conversations must not see each other's names
            namespaces[request["conversation"]] = new_namespace()
        namespace = namespaces[request["conversation"]]
        output = io.StringIO()
        problem = ""
        with contextlib.redirect_stdout(output):
            try:
                exec(compile(request["code"], "<python_exec>", "exec"), namespace)
            except Exception as error:
                problem = f"{type(error).__name__}: {error}"
        return {"problem": problem}, output.getvalue().encode("utf-8", "replace")

    return run
