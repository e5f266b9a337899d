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
"""Tokens of the largest answer to one call."""
CONTEXT_WINDOW = 200_000
"""Tokens that the context of the client's model is assumed to hold."""
SAFETY_MARGIN = 0.20
"""Share of the context window that is kept free of answers."""


class Budget:
    """The budget of one client; its parameters default to the constants above. Thread-safe."""

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

    def count_offloaded(self, tokens: int) -> None:
        """Count the tokens of an offloaded result."""
        with self._lock:
            self.tokens_intercepted += tokens

    def spend(self, tool: str, text: str, suggestions: Sequence[str]) -> str:
        """Count an answer and return it. If it is too large, return its replacement, which is not counted."""
        tokens = script_aware_estimate(text)
        with self._lock:
            remaining = self._total - self.tokens_extracted
            if tokens <= min(self._per_call, remaining):
                self.tokens_extracted += tokens
                return text
        return self.withheld(tool, tokens, suggestions)

    def withheld(self, tool: str, tokens: int, suggestions: Sequence[str]) -> str:
        """The JSON text that replaces an answer of *tokens* tokens; *suggestions* tell the caller how to get less."""
        refusal: dict[str, object] = {"error": f"{tool}_too_large", "estimated_tokens": tokens}
        if tokens > self._per_call:
            refusal["per_call_limit"] = self._per_call
        else:
            refusal["remaining_budget_tokens"] = self._total - self.tokens_extracted
        return json.dumps({**refusal, "suggestions": list(suggestions)}, ensure_ascii=False)
