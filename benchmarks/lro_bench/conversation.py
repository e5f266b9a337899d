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
    """Messages so far, by their tokens. Framing that providers add between messages is not counted."""

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
    """The first limit that was reached."""
    largest: int = 0
    """Tokens of the largest request."""
    _history: int = 0

    def __post_init__(self) -> None:
        self._history = self.tools_tokens + count(self.system) + count(self.question)

    def request(self, text: str, calls: Sequence[Call]) -> None:
        """Count a request to the model, and the message with which it is answered."""
        self.turns += 1
        self.largest = max(self.largest, self._history)
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
        weight = count(text)
        self._history += weight
        self.messages += 1
        if not self.exceeded:
            self.content_tokens += weight

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
    """Let an agent work on a task; *tools* are the texts of the entries of tools/list, *call* makes calls at once.

    With *beyond_limits* the plan is carried out to its end, so that the sample has the turns, messages and tokens that
    it takes (`Sample.least_turns` and so on); all other measures end where the limit was reached.
    """
    talk = Conversation(condition.limits, sum(map(count, tools)), condition.system_prompt, task.question)
    plan = AGENTS[agent](setting_for(condition, task, agent))
    exchanges: list[Exchange] = []
    turns = messages = 0
    final: str | None = None
    try:
        calls = next(plan)
        while True:
            talk.request("", calls)
            if talk.exceeded and not beyond_limits:
                break
            results: list[str] = []
            while len(results) < len(calls) and (beyond_limits or not talk.is_overfull):
                batch = calls[len(results) : len(results) + _BATCH]
                if condition.limits.messages is not None and not beyond_limits:
                    batch = batch[: max(1, condition.limits.messages - talk.messages)]
                made = call(batch, f"{condition.name}/{task.id}/{agent}")
                results += made
                for one, result in zip(batch, made, strict=True):
                    talk.result(result)
                    if not talk.exceeded:
                        exchanges.append(Exchange(one.tool, one.arguments, result))
            if not talk.exceeded:
                turns, messages = len(talk.requests), talk.messages
            if len(results) < len(calls):  # the next request would be refused anyway
                talk.refuse()
                break
            calls = plan.send(results)
    except StopIteration as end:
        text = str(end.value)
        talk.request(text, ())
        final = text
    if not talk.exceeded:
        turns, messages = len(talk.requests), talk.messages
    answer = answer_of(final) if final is not None and not talk.exceeded else None
    return sample_of(
        condition.name,
        task,
        agent,
        answer,
        exchanges,
        recipes,
        stop=talk.exceeded or "answered",
        turns=turns or len(talk.requests),
        messages=messages or min(talk.messages, condition.limits.messages or talk.messages),
        input_tokens=sum(usage.input_tokens for usage in talk.requests),
        cached_tokens=sum(usage.cached_tokens for usage in talk.requests),
        output_tokens=sum(usage.output_tokens for usage in talk.requests),
        content_tokens=talk.content_tokens,
        least_turns=talk.turns if beyond_limits else None,
        least_messages=talk.messages if beyond_limits else None,
        least_context=talk.largest if beyond_limits else None,
    )


def setting_for(condition: Condition, task: Task, agent: str) -> Setting:
    """The setting of an agent that solves a task under a condition."""
    pages = -(-task.n // condition.delivery.page_size) if condition.delivery.kind == "pages" else 1
    return Setting(task, condition.delivery.tools, pages if agent == "oracle" else 1)
