"""Runs with real models through Inspect AI, with any provider that it supports.

With ``mockllm/oracle`` and ``mockllm/typical``, a scripted agent takes the place of a model, and has the same
conversation over the same MCP server, through Inspect. The logs of Inspect are in ``DIR/logs``; ``inspect view`` shows
them.

By default, Inspect cuts the result of a tool after 16 KiB. Here ``max_tool_output`` is 0, which turns this off, so that
results are cut only by the limits of the condition. These limits are applied by the MCP server. In a sandbox, `bash`
and `python_exec` are not tools of the MCP server, so these limits do not apply to their results.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

from lro_bench.agents import AGENTS, Call
from lro_bench.conditions import Condition, conditions
from lro_bench.conversation import call_text, setting_for
from lro_bench.corpus import corpus
from lro_bench.run import (
    MOCK_PREFIX,
    Choice,
    Journal,
    begin_run,
    describe,
    finish_run,
    is_left_out,
    recipes,
    resume_command,
)
from lro_bench.samples import Exchange, Sample, answer_of, is_correct, sample_of
from lro_bench.server import BenchServer
from lro_bench.session import server_command, tool_text
from lro_bench.tasks import Task, tasks
from lro_bench.tokens import count
from lro_conformance.errors import EXIT_NO_VERDICT, UsageError
from lro_conformance.report.sanitize import one_line

LOGS = "logs"
_RETRIES, _TIMEOUT_S = 2, 600
_PAGES_FILE = "pages.json"
"""The file in a sandbox that has the pages of the corpus."""
_RUNNER = """
import collections, contextlib, io, json, os, re, sys
request = json.load(sys.stdin)
space = {"json": json, "re": re, "collections": collections, "Counter": collections.Counter}
if os.path.exists(request["pages"]):
    space["list_memories"] = lambda page=1: json.load(open(request["pages"]))[page - 1]
with contextlib.redirect_stdout(io.StringIO()):
    for code in request["earlier"]:
        exec(code, space)
exec(request["code"], space)
"""


class ModelError(UsageError):
    """The model is not available, or has failed. Samples that are finished are kept."""

    exit_code = EXIT_NO_VERDICT


@dataclass(frozen=True, slots=True)
class Batch:
    """The samples of one evaluation by Inspect, which writes one log for them."""

    condition: Condition
    family: str
    n: int
    tasks: tuple[Task, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """Outcome of an evaluation."""

    finished: Sequence[Sample] = ()
    problem: str = ""
    """The first error; empty if there was none."""
    is_interrupted: bool = False


def run_model(
    choice: Choice,
    model: str,
    folder: Path,
    *,
    sandbox: str | None,
    resume: bool,
    progress: Callable[[int, int], None],
    say: Callable[[str], object],
) -> list[Sample]:
    """Let a model work on the chosen tasks. Samples are written as soon as their log is complete.

    Raises `ModelError` with a message of one line if the model is not available or fails. The samples that are finished
    by then are kept.
    """
    if find_spec("inspect_ai") is None:
        raise UsageError("--model needs Inspect AI: pip install 'lro-spec[bench]'")
    if model.startswith(MOCK_PREFIX) and model.removeprefix(MOCK_PREFIX) not in AGENTS:
        raise UsageError(f"--model {model}: expected one of {', '.join(MOCK_PREFIX + agent for agent in AGENTS)}")
    _check_names(model, sandbox)
    description = {**describe(choice), "model": model, "sandbox": sandbox}
    done = begin_run(folder, description, resume=resume)
    batches = list(_batches(choice, model, sandbox, say))
    total = sum(len(batch.tasks) for batch in batches)
    progress(len(done), total)
    with Journal(folder) as journal:
        for batch in batches:
            pending = [t for t in batch.tasks if (model, batch.condition.name, batch.n, batch.family, t.id) not in done]
            if not pending:
                continue
            finished_before = len(done)
            outcome = _evaluate(
                batch,
                pending,
                model,
                folder / LOGS,
                sandbox,
                lambda count, offset=finished_before: progress(offset + count, total),
            )
            done.update({sample.key: sample for sample in outcome.finished})
            journal.append(outcome.finished)
            progress(len(done), total)
            if outcome.is_interrupted:
                raise KeyboardInterrupt
            if outcome.problem:
                error = one_line(" ".join(outcome.problem.split()), 300)
                kept_samples = (
                    f"{len(done)} of {total} samples are kept: {resume_command(folder)} continues it"
                    if done
                    else "no sample is finished"
                )
                raise ModelError(f"{model}: {error} ({kept_samples})")
    return finish_run(folder, done)


def _check_names(model: str, sandbox: str | None) -> None:
    """Raise `UsageError` for a model or sandbox that Inspect does not know; a missing key or package is found later."""
    from inspect_ai._util.error import PrerequisiteError
    from inspect_ai.model import get_model
    from inspect_ai.util._sandbox.registry import registry_find_sandboxenv

    try:
        if not model.startswith(MOCK_PREFIX):
            with suppress(PrerequisiteError):
                get_model(model, memoize=False)
    except ValueError as problem:
        raise UsageError(f"--model {model}: {one_line(str(problem), 300)}") from None
    try:
        if sandbox is not None:
            with suppress(PrerequisiteError):
                registry_find_sandboxenv(sandbox)
    except ValueError as problem:
        raise UsageError(f"--sandbox {sandbox}: {one_line(str(problem), 300)}") from None


def _batches(choice: Choice, model: str, sandbox: str | None, say: Callable[[str], object]) -> Iterator[Batch]:
    """The batches of a choice, without conditions that would run a model's programs on this machine."""
    for name in choice.conditions:
        condition = conditions()[name]
        if is_left_out(condition, model, sandbox):
            say(f"{name}: left out, because the model's Python code needs a sandbox (--sandbox docker)")
            continue
        for n in choice.sizes:
            for family in condition.families:
                yield Batch(condition, family, n, tasks(family, n)[: choice.limit])


def _evaluate(
    batch: Batch,
    pending: Sequence[Task],
    model: str,
    logs: Path,
    sandbox: str | None,
    progress: Callable[[int], None],
) -> Outcome:
    """Let Inspect evaluate tasks; *progress* receives the number of samples that are finished so far."""
    from inspect_ai._util.error import PrerequisiteError
    from inspect_ai.log import read_eval_log
    from rich.text import Text

    earlier_logs = frozenset(logs.glob("*.eval"))
    task = inspect_task(
        batch.condition.name, batch.n, batch.family, [task.id for task in pending], sandbox, progress=progress
    )
    try:
        evaluate: Any = import_module("inspect_ai").eval  # by name, because some of its types are incomplete
        evaluate(
            task,
            model=_model(model, batch),
            log_dir=str(logs),
            log_format="eval",
            display="none",
            fail_on_error=False,  # a sample that fails must not end the others
            max_retries=_RETRIES,
            timeout=_TIMEOUT_S,
            max_tool_output=0,
            sandbox=sandbox,
        )
    except PrerequisiteError as problem:
        return Outcome(problem=Text.from_markup(str(problem.message)).plain)
    except (ValueError, ImportError) as problem:
        return Outcome(problem=str(problem))
    new_logs = sorted(
        frozenset(logs.glob("*.eval")) - earlier_logs
    )  # after Ctrl-C, Inspect writes the log but does not return it
    if not new_logs:
        return Outcome(is_interrupted=True)
    log = read_eval_log(str(new_logs[-1]))
    by_id = {task.id: task for task in pending}
    finished = [
        sample_in_log(logged, by_id[str(logged.id)], batch.condition, model)
        for logged in log.samples or []
        if logged.error is None and str(logged.id) in by_id
    ]
    problem = "" if log.error is None else _plain(log.error.message)
    if not problem and len(finished) < len(pending):
        errors = [logged.error.message for logged in log.samples or [] if logged.error is not None]
        problem = _plain(errors[0]) if errors else f"the log has the status {log.status}"
    return Outcome(finished, problem, is_interrupted=log.status == "cancelled")


def _plain(message: str) -> str:
    """The message of an error, without the wrapping of repeated attempts."""
    wrapped = re.search(r"RetryError\(.*raised (\w+)>", message)
    return message if wrapped is None else f"the provider did not answer, even after retries ({wrapped[1]})"


def inspect_task(
    condition: str,
    n: int,
    family: str,
    ids: Sequence[str] | None = None,
    sandbox: str | None = None,
    progress: Callable[[int], None] = lambda count: None,
) -> Any:
    """The Inspect task of a condition, a size and a family.

    *ids* are the IDs of the tasks that it contains (default: all). *progress* receives the number of samples that are
    scored so far.
    """
    from inspect_ai import Task as InspectTask
    from inspect_ai.dataset import Sample as InspectSample
    from inspect_ai.model import ChatMessageSystem, GenerateConfig
    from inspect_ai.scorer import CORRECT, INCORRECT, Score, accuracy, scorer, stderr
    from inspect_ai.solver import solver
    from inspect_ai.tool import bash, mcp_connection, mcp_server_stdio

    chosen, scored_count = conditions()[condition], itertools.count(1)
    command, *arguments = server_command(condition, n)

    @solver
    def work_on_the_store() -> Any:
        async def solve(state: Any, generate: Any) -> Any:
            server = mcp_server_stdio(name="lro-bench", command=command, args=arguments)
            state.messages.insert(0, ChatMessageSystem(content=chosen.system_prompt))
            async with mcp_connection(server):
                tools = list(await server.tools())
                if sandbox is not None:  # a model's shell and Python run in the sandbox, on a copy of the file
                    tools = [tool for tool in tools if _name_of(tool) not in ("bash", "python_exec")]
                    tools += [bash(120)] if "bash" in chosen.delivery.tools else []
                    tools += [_sandboxed_python(chosen, n)] if "python_exec" in chosen.delivery.tools else []
                state.tools = tools
                return await generate(state, tool_calls="loop")

        return solve

    @scorer(metrics=[accuracy(), stderr()])
    def exact_answer() -> Any:
        async def score(state: Any, target: Any) -> Any:
            answer = answer_of(state.output.completion)
            is_right = is_correct(answer, target.text)
            progress(next(scored_count))
            return Score(value=CORRECT if is_right else INCORRECT, answer=answer, explanation=state.output.completion)

        return score

    files = _sandbox_files(chosen, n) if sandbox is not None else None
    dataset = [
        InspectSample(id=task.id, input=task.question, target=task.answer, files=files, metadata={"family": family})
        for task in tasks(family, n)
        if ids is None or task.id in ids
    ]
    return InspectTask(
        name=f"{condition} {family} n={n}".replace("/", "-").replace(" ", "_"),
        dataset=dataset,
        solver=work_on_the_store(),
        scorer=exact_answer(),
        message_limit=chosen.limits.messages,
        config=GenerateConfig(max_tool_output=0),
        metadata={"condition": condition, "n": n, "family": family, "limits": str(chosen.limits)},
    )


def _name_of(tool: Any) -> str:
    from inspect_ai.tool import ToolDef

    return ToolDef(tool).name


def _sandbox_files(condition: Condition, n: int) -> dict[str, str]:
    """The files of a condition as texts, by the path that agents know."""
    import tempfile

    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="lro-bench-"))
        server = BenchServer(condition.delivery, corpus(n), folder, stack)
        files = {path: data.decode() for path, data in server.files.items()}
        if condition.delivery.kind == "pages_in_code":
            files[_PAGES_FILE] = json.dumps(server.pages)
        return files


def _sandboxed_python(condition: Condition, n: int) -> Any:
    """`python_exec` in a sandbox of Inspect. Before each call, earlier code runs again, so that its names exist."""
    from inspect_ai.tool import ToolDef
    from inspect_ai.util import sandbox

    with ExitStack() as stack:
        server = BenchServer(condition.delivery, corpus(n), "", stack)
        description = next(tool["description"] for tool in server.list_tools() if tool["name"] == "python_exec")
    earlier: list[str] = []

    async def execute(code: str) -> str:
        request = json.dumps({"earlier": earlier, "code": code, "pages": _PAGES_FILE})
        completed = await sandbox().exec(["python3", "-c", _RUNNER], input=request, timeout=120)
        if completed.success:
            earlier.append(code)
        return (
            completed.stdout
            if completed.success
            else completed.stdout + "".join(completed.stderr.strip().splitlines()[-1:])
        )

    return ToolDef(execute, name="python_exec", description=description, parameters={"code": "Python code."}).as_tool()


# --- from a log to samples


def sample_in_log(logged: Any, task: Task, condition: Condition, model: str) -> Sample:
    """A sample of an Inspect log (*logged*) as a `Sample`."""
    exchanges = list(_exchanges(logged.messages))
    final_text = logged.output.completion if logged.output is not None and logged.limit is None else ""
    usages = list(logged.model_usage.values())
    cache_reads = sum(usage.input_tokens_cache_read or 0 for usage in usages)
    cache_writes = sum(usage.input_tokens_cache_write or 0 for usage in usages)
    return sample_of(
        condition.name,
        task,
        model,
        answer_of(final_text),
        exchanges,
        recipes(),
        stop=_stop(logged),
        turns=sum(message.role == "assistant" for message in logged.messages),
        messages=len(logged.messages),
        input_tokens=sum(usage.input_tokens for usage in usages) + cache_reads + cache_writes,
        cached_tokens=cache_reads,
        output_tokens=sum(usage.output_tokens for usage in usages),
        cost=_cost(usages),
        content_tokens=sum(count(exchange.result) for exchange in exchanges),
    )


def _cost(usages: Sequence[Any]) -> float | None:
    """Cost in dollars. None if Inspect does not know the prices of the model."""
    costs = [usage.total_cost for usage in usages]
    return None if None in costs or not costs else sum(costs)


def _stop(logged: Any) -> str:
    """Reason why a conversation ended."""
    if logged.limit is not None:
        return "messages" if logged.limit.type == "message" else str(logged.limit.type)
    return "context" if logged.output is not None and logged.output.stop_reason == "model_length" else "answered"


def _calls(message: Any) -> list[Any]:
    """The tool calls of a message."""
    return cast("list[Any]", message.tool_calls or []) if message.role == "assistant" else []


def _exchanges(messages: Sequence[Any]) -> Iterator[Exchange]:
    """Tool calls with their results."""
    arguments = {call.id: cast("Mapping[str, Any]", call.arguments) for message in messages for call in _calls(message)}
    for message in messages:
        if message.role == "tool":
            yield Exchange(message.function or "", arguments.get(message.tool_call_id, {}), message.text)


# --- scripted agents in a model's place


def _model(name: str, batch: Batch) -> Any:
    """The name of the model for Inspect, or a model of Inspect by which a scripted agent answers."""
    if not name.startswith(MOCK_PREFIX):
        return name
    from inspect_ai.model import get_model

    mock = ScriptedModel(name.removeprefix(MOCK_PREFIX), batch)
    return get_model("mockllm/model", custom_outputs=mock, memoize=False)


class ScriptedModel:
    """A scripted agent that computes the outputs of ``mockllm``: it answers each request from the messages so far."""

    def __init__(self, agent: str, batch: Batch) -> None:
        self._agent, self._batch = agent, batch
        self._tasks = {task.question: task for task in batch.tasks}
        with ExitStack() as stack:
            server = BenchServer(batch.condition.delivery, corpus(batch.n), "", stack)
            self._tools_tokens = sum(count(tool_text(tool)) for tool in server.list_tools())

    def __call__(self, messages: Sequence[Any], _tools: object, _choice: object, _config: object) -> Any:
        """The next message of the agent."""
        from inspect_ai.model import ChatMessageAssistant, ModelOutput, ModelUsage
        from inspect_ai.tool import ToolCall

        task = self._tasks[next(message.text for message in messages if message.role == "user")]
        text, calls = self._next(task, messages)
        tool_calls = [
            ToolCall(f"call-{len(messages)}-{index}", call.tool, dict(call.arguments))
            for index, call in enumerate(calls)
        ]
        output = ModelOutput.from_message(ChatMessageAssistant(content=text, tool_calls=tool_calls or None))
        message_tokens = [self._tokens_of(message) for message in messages]
        sent_tokens = self._tools_tokens + sum(message_tokens)
        last_answer = max(
            (index for index, message in enumerate(messages) if message.role == "assistant"), default=None
        )
        cached_tokens = 0 if last_answer is None else self._tools_tokens + sum(message_tokens[:last_answer])
        written_tokens = count(text) + sum(count(call_text(call)) for call in calls)
        output.usage = ModelUsage(
            input_tokens=sent_tokens - cached_tokens,
            input_tokens_cache_read=cached_tokens,
            output_tokens=written_tokens,
            total_tokens=sent_tokens + written_tokens,
        )
        return output

    def _next(self, task: Task, messages: Sequence[Any]) -> tuple[str, Sequence[Call]]:
        """Run the agent's plan from its beginning with the results so far, and return its next text and calls."""
        plan = AGENTS[self._agent](setting_for(self._batch.condition, task, self._agent))
        results = {message.tool_call_id: message.text for message in messages if message.role == "tool"}
        try:
            calls = next(plan)
            for message in messages:
                if message.role == "assistant":
                    calls = plan.send([results[call.id] for call in _calls(message)])
        except StopIteration as end:
            return str(end.value), ()
        return "", calls

    @staticmethod
    def _tokens_of(message: Any) -> int:
        calls = [Call(call.function, call.arguments) for call in _calls(message)]
        return count(message.text) + sum(count(call_text(call)) for call in calls)
