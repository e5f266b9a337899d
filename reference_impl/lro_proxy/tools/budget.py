"""Token budget of the scratchpad's tools: per call, and for all calls together.

An answer is counted before it is returned. If it is too large, it is withheld, and the caller gets a JSON result that
says so. This result is not an error, because a client would treat an error as a failure of the tool.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence

from lro_spec.tokens import script_aware_estimate

MAX_EXTRACTION_TOKENS = 10_000
CONTEXT_WINDOW = 200_000
SAFETY_MARGIN = 0.20


class Budget:
    """The budget of one client. Thread-safe."""

    def __init__(
        self,
        per_call: int = MAX_EXTRACTION_TOKENS,
        context_window: int = CONTEXT_WINDOW,
        safety_margin: float = SAFETY_MARGIN,
    ) -> None:
        self._per_call = per_call
        self._total = int(context_window * (1 - safety_margin))
        self._lock = threading.Lock()
        self.tokens_extracted = 0
        """Tokens returned so far."""
        self.tokens_intercepted = 0
        """Tokens that were offloaded."""

    def intercepted(self, tokens: int) -> None:
        """Count the tokens of an offloaded result."""
        with self._lock:
            self.tokens_intercepted += tokens

    def spend(self, tool: str, text: str, suggestions: Sequence[str]) -> str:
        """Count an answer and return it; if it is too large, return its replacement."""
        tokens = script_aware_estimate(text)
        with self._lock:
            remaining = self._total - self.tokens_extracted
            if tokens <= min(self._per_call, remaining):
                self.tokens_extracted += tokens
                return text
        return self.withheld(tool, tokens, suggestions)

    def withheld(self, tool: str, tokens: int, suggestions: Sequence[str]) -> str:
        """The JSON replacement for an answer of *tokens*, which is too large."""
        refusal: dict[str, object] = {"error": f"{tool}_too_large", "estimated_tokens": tokens}
        if tokens > self._per_call:
            refusal["per_call_limit"] = self._per_call
        else:
            refusal["remaining_budget_tokens"] = self._total - self.tokens_extracted
        return json.dumps({**refusal, "suggestions": list(suggestions)}, ensure_ascii=False)
