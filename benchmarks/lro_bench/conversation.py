"""One conversation of a scripted agent: its requests, their tokens, and the limit that ends it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from lro_bench.agents import AGENTS, Call, Setting
from lro_bench.conditions import Condition, Limits
from lro_bench.samples import Exchange, Sample, Usage, answer_of, sample_of
from lro_bench.tasks import Task
from lro_bench.tokens import count

_BATCH = 64
"""Maximum number of calls that are made before the limits are checked again."""


@dataclass(slots=True)
class Conversation:
    """The messages so far, counted in tokens. The framing that providers add between messages is not counted."""

    limits: Limits
    tools_tokens: int
    system: str
    question: str
    requests: list[Usage] = field(default_factory=list[Usage])
    turns: int = 0
    """Number of requests, including those beyond a limit."""
    messages: int = 2
    """Number of messages; the first two are the system prompt and the question."""
    content_tokens: int = 0
    exceeded: str = ""
    """The first limit that was reached: ``messages`` or ``context``; empty if there is none."""
    largest_request: int = 0
    """Tokens of the largest request."""
    _history: int = 0

    def __post_init__(self) -> None:
        self._history = self.tools_tokens + count(self.system) + count(self.question)

    def request(self, text: str, calls: Sequence[Call]) -> None:
        """Count a request to the model, and the message by which the model answers."""
        self.turns += 1
        self.largest_request = max(self.largest_request, self._history)
        if self._history > self.limits.context_tokens:
            self._exceed("context")
        if self.is_full:
            self._exceed("messages")
        output = count(text) + sum(count(call_text(call)) for call in calls)
        cached = self.requests[-1].input_tokens if self.requests else 0
        if not self.exceeded:
            self.requests.append(Usage(self._history, cached, output))
        self._history += output
        self.messages += 1

    def result(self, text: str) -> None:
        """Count the result of a tool call."""
        if self.is_full:
            self._exceed("messages")
        tokens = count(text)
        self._history += tokens
        self.messages += 1
        if not self.exceeded:
            self.content_tokens += tokens

    @property
    def is_overfull(self) -> bool:
        """True if the next request would be refused."""
        return self.is_full or self._history > self.limits.context_tokens

    def refuse(self) -> None:
        """End the conversation before its next request."""
        self._exceed("messages" if self.is_full else "context")

    @property
    def is_full(self) -> bool:
        """True if no further message is permitted."""
        return self.limits.messages is not None and self.messages >= self.limits.messages

    def _exceed(self, limit: str) -> None:
        self.exceeded = self.exceeded or limit


def call_text(call: Call) -> str:
    """A call as it is counted: its name and its arguments as compact JSON."""
    return f"{call.tool}{json.dumps(call.arguments, ensure_ascii=False, separators=(',', ':'))}"


def converse(
    condition: Condition,
    task: Task,
    agent: str,
    tools: Sequence[str],
    call: Callable[[Sequence[Call], str], list[str]],
    recipes: Sequence[str],
    *,
    beyond_limits: bool,
) -> Sample:
    """Let an agent work on a task.

    *tools* are the entries of tools/list as texts, and *call* makes several calls at the same time. With
    *beyond_limits*, the plan is carried out to its end even after a limit is reached, so that the sample has the turns,
    messages and tokens of the whole plan (`Sample.least_turns` and so on). All other measures end where the limit was
    reached.
    """
    conversation = Conversation(condition.limits, sum(map(count, tools)), condition.system_prompt, task.question)
    plan = AGENTS[agent](setting_for(condition, task, agent))
    exchanges: list[Exchange] = []
    turns = messages = 0
    final_text: str | None = None
    try:
        calls = next(plan)
        while True:
            conversation.request("", calls)
            if conversation.exceeded and not beyond_limits:
                break
            results: list[str] = []
            while len(results) < len(calls) and (beyond_limits or not conversation.is_overfull):
                batch = calls[len(results) : len(results) + _BATCH]
                if condition.limits.messages is not None and not beyond_limits:
                    batch = batch[: max(1, condition.limits.messages - conversation.messages)]
                batch_results = call(batch, f"{condition.name}/{task.id}/{agent}")
                results += batch_results
                for tool_call, result in zip(batch, batch_results, strict=True):
                    conversation.result(result)
                    if not conversation.exceeded:
                        exchanges.append(Exchange(tool_call.tool, tool_call.arguments, result))
            if not conversation.exceeded:
                turns, messages = len(conversation.requests), conversation.messages
            if len(results) < len(calls):  # the next request would be refused anyway
                conversation.refuse()
                break
            calls = plan.send(results)
    except StopIteration as end:
        text = str(end.value)
        conversation.request(text, ())
        final_text = text
    if not conversation.exceeded:
        turns, messages = len(conversation.requests), conversation.messages
    answer = answer_of(final_text) if final_text is not None and not conversation.exceeded else None
    return sample_of(
        condition.name,
        task,
        agent,
        answer,
        exchanges,
        recipes,
        stop=conversation.exceeded or "answered",
        turns=turns or len(conversation.requests),
        messages=messages or min(conversation.messages, condition.limits.messages or conversation.messages),
        input_tokens=sum(usage.input_tokens for usage in conversation.requests),
        cached_tokens=sum(usage.cached_tokens for usage in conversation.requests),
        output_tokens=sum(usage.output_tokens for usage in conversation.requests),
        content_tokens=conversation.content_tokens,
        least_turns=conversation.turns if beyond_limits else None,
        least_messages=conversation.messages if beyond_limits else None,
        least_context=conversation.largest_request if beyond_limits else None,
    )


def setting_for(condition: Condition, task: Task, agent: str) -> Setting:
    """The setting of an agent that solves a task under a condition."""
    pages = -(-task.n // condition.delivery.page_size) if condition.delivery.kind == "pages" else 1
    return Setting(task, condition.delivery.tools, pages if agent == "oracle" else 1)
