"""Runs: how both clients start, follow and end them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from typing_extensions import TypedDict

from ._errors import NodeloomError, unreachable
from ._exchange import Call, Pause, Reply, Settings, Steps, exchange
from ._pacing import Pacing
from ._types import BatchWithRows, Execution, RunWebhook, TestRunWithResults

POLL_SECONDS = 2.0
FINAL = frozenset({"completed", "failed", "cancelled"})
GOING = frozenset({"running", "cancel_requested"})
"""Of a batch: items begin, or are waited for."""
LAST_EVENT = "settled"
RECONNECT_SECONDS = 1.0
MAX_BREAKS = 5
"""Connections in a row that ended soon and without an event; each is opened with the client's own retries."""
SOON_SECONDS = 30.0


@dataclass(frozen=True)
class Event:
    """Something that happened to an execution.

    Attributes:
        id: Its place in the execution's log, to resume after. That of the event before it for `node.delta` and `node.preview`,
            which are not in the log.
        type: `admitted`, `submitted`, `node.started`, `node.completed`, `node.failed`, …; `settled` is the last. `node.delta` brings a
            piece of a text that is being written, `node.preview` the percent and a picture of an unfinished output.
        at: ISO 8601.
    """

    id: int
    type: str
    at: str
    data: Mapping[str, Any]


class Following:
    """The position in the events of an execution, across all connections."""

    def __init__(self, after: int) -> None:
        self.last = after
        self.is_over = False
        self._breaks = 0
        self._opened_at = 0.0

    def opened(self) -> None:
        self._opened_at = time.monotonic()

    def read(self, event_id: str, data: str) -> Event:
        """The event of a message of the stream."""
        if event_id:
            self.last = int(event_id)
        self._breaks = 0
        said = json.loads(data)
        self.is_over = said["type"] == LAST_EVENT
        return Event(self.last, said["type"], said["at"], said["data"])

    def broke(self, cause: BaseException | None, execution_id: str) -> None:
        """Notes that a connection ended before the run did.

        Raises:
            NodeloomError: too many did so, soon and without an event.
        """
        # A run may be silent for longer than any one connection is kept.
        self._breaks = self._breaks + 1 if time.monotonic() - self._opened_at < SOON_SECONDS else 0
        if self._breaks > MAX_BREAKS:
            raise unreachable(cause, f"the events of {execution_id}")


@dataclass(frozen=True)
class CompletedRun:
    """A run with a result.

    Attributes:
        result: What the workflow's response output gives, by its members.
        cost: Credits.
        ms: How long it took, in milliseconds.
    """

    result: Mapping[str, Any]
    cost: float
    ms: float
    execution_id: str


class RunOptions(TypedDict, total=False):
    """Options of `run`, `submit`, `stream` and `rerun`.

    Attributes:
        max_credits: The run is refused if it could cost more. A quote's `estimatedCreditCost` will do; None sets no limit.
        webhook: Receives the messages of this run in place of the key's webhook: `{"url": …, "events": […]}`.
        retention_days: Days for which the execution is kept after its end, if the workflow sets no fewer. With 0, only its
            result is kept, for 28 hours.
        metadata: Your own names for the run: on the execution, its webhooks and its usage row.
        provenance: `full` keeps prompts and settings with the files that the run makes.
        prefer: The header `Prefer`: `no-queue` rejects the run if the queue is full, `wait=<seconds>` shortens the wait of one request.
        idempotency_key: The same key and body run once; a random one unless given.
        headers: Additional headers.
    """

    max_credits: float | None
    webhook: RunWebhook | None
    retention_days: int | None
    metadata: Mapping[str, str] | None
    provenance: Literal["full"] | None
    prefer: str | None
    idempotency_key: str | None
    headers: Mapping[str, str] | None


BODY_OPTIONS = {
    "max_credits": "maxCredits",
    "webhook": "webhook",
    "retention_days": "retentionDays",
    "metadata": "metadata",
    "provenance": "provenance",
}
"""Options that are members of a run's body."""


def accepted_first(options: RunOptions) -> RunOptions:
    """Options of a run that returns before it is over. This works with every model, even if the model can't be polled."""
    prefer = ", ".join(one for one in (options.get("prefer"), "respond-async") if one)
    return {**options, "prefer": prefer}


def option_body(options: RunOptions) -> dict[str, Any]:
    """The members of a body that options set.

    Raises:
        TypeError: there is no such option.
    """
    unknown = set(options) - set(RunOptions.__annotations__)
    if unknown:
        raise TypeError(f"there is no option {', '.join(sorted(unknown))}; RunOptions has {', '.join(RunOptions.__annotations__)}")
    values = cast("Mapping[str, Any]", options)
    return {member: values[name] for name, member in BODY_OPTIONS.items() if values.get(name) is not None}


def option_headers(options: RunOptions) -> Mapping[str, str]:
    """The headers of a run, with its preferences in one."""
    headers = {name.lower(): value for name, value in (options.get("headers") or {}).items()}
    prefer = ", ".join(one for one in (options.get("prefer"), headers.get("prefer")) if one)
    return {**headers, **({"prefer": prefer} if prefer else {})}


def rerun_body(
    *,
    inputs: Mapping[str, Any] | None,
    nodes: Sequence[str] | None,
    reuse: Sequence[str] | None,
    until: str | None,
    alias: str | None,
    version: int | str | None,
) -> dict[str, Any]:
    """A rerun's own members."""
    lists = {name: list(ids) for name, ids in (("nodes", nodes), ("reuse", reuse)) if ids is not None}
    others = {"inputs": inputs, "until": until, "alias": alias, "version": version}
    return {**{name: value for name, value in others.items() if value is not None}, **lists}


def rerun_call(execution_id: str, body: Mapping[str, Any], options: RunOptions) -> Call:
    return Call(
        "rerunExecution",
        params={"id": execution_id},
        body={**body, **option_body(options)},
        headers=option_headers(options),
        idempotency_key=options.get("idempotency_key"),
    )


class TextFollower:
    """Follows the text of one node of a run."""

    def __init__(self, node_id: str | None) -> None:
        self._node_id = node_id
        self._written = ""
        self._is_other = False

    def _next(self, text: str) -> str | None:
        self._is_other = self._is_other or not text.startswith(self._written)
        if self._is_other or len(text) == len(self._written):
            return None
        piece = text[len(self._written) :]
        self._written = text
        return piece

    def piece(self, event: Event) -> str | None:
        """The new part of the text; None for another event or node, or if the text started over with different words."""
        data = event.data
        if event.type != "node.delta" or data.get("item", 0) != 0:
            return None
        self._node_id = self._node_id or data["nodeId"]
        if data["nodeId"] != self._node_id:
            return None
        return self._next(data["text"] if data.get("reset") else self._written + data["text"])

    def rest(self, run: CompletedRun) -> str | None:
        """The end of the result's text that was not streamed."""
        text = run.result.get("text")
        return self._next(text) if isinstance(text, str) else None


def selection(alias: str | None, version: int | str | None) -> dict[str, str]:
    """The query that selects a version of a workflow."""
    return {**({} if alias is None else {"alias": alias}), **({} if version is None else {"version": str(version)})}


def target_call(
    action: str,
    *,
    workflow: str | None,
    model: str | None,
    inputs: Mapping[str, Any] | None,
    until: str | None,
    alias: str | None = None,
    version: int | str | None = None,
    options: RunOptions | None = None,
) -> Call:
    """A run or a quote of a workflow or a model.

    Raises:
        TypeError: neither or both of them are named, or a model with an alias or a version.
    """
    if (workflow is None) == (model is None):
        raise TypeError("name either a workflow or a model")
    query = selection(alias, version)
    if model is not None and query:
        raise TypeError("only workflows have aliases and versions")
    given: RunOptions = options or {}
    body: dict[str, Any] = {"inputs": dict(inputs or {}), **option_body(given)}
    if until is not None:
        body["until"] = until
    is_workflow = workflow is not None
    params = {"slug": workflow} if workflow is not None else {"internalName": cast("str", model)}
    operation = {
        ("run", True): "runWorkflow",
        ("run", False): "runModel",
        ("quote", True): "quoteWorkflow",
        ("quote", False): "quoteModel",
    }[action, is_workflow]
    return Call(
        cast("Any", operation),
        params=params,
        query=query,
        body=body,
        headers=option_headers(given),
        idempotency_key=given.get("idempotency_key"),
    )


def batch_call(
    action: Literal["create", "quote"],
    *,
    workflow: str | None,
    model: str | None,
    inputs: Sequence[Mapping[str, Any]] | None,
    alias: str | None,
    version: int | str | None,
    order: Mapping[str, Any],
    idempotency_key: str | None = None,
) -> Call:
    """A batch, or its quote, of a workflow or a model.

    Raises:
        TypeError: neither or both of them are named.
    """
    if (workflow is None) == (model is None):
        raise TypeError("name either a workflow or a model")
    body = {**({} if inputs is None else {"inputs": [dict(one) for one in inputs]}), **order}
    if workflow is not None:
        operation, params, query = f"{action}WorkflowBatch", {"slug": workflow}, selection(alias, version)
    else:
        operation, params, query = f"{action}ModelBatch", {"internalName": cast("str", model)}, {}
    return Call(cast("Any", operation), params=params, query=query, body=body, idempotency_key=idempotency_key)


def _failure(execution: Execution) -> NodeloomError:
    error = dict(cast("Mapping[str, Any]", execution.get("error") or {}))
    status, code = (409, "EXECUTION_CANCELLED") if execution["status"] == "cancelled" else (500, "EXECUTION_FAILED")
    code, message = error.pop("code", code), error.pop("message", f"the run was {execution['status']}")
    return NodeloomError(message, status=status, code=code, details={"executionId": execution["executionId"], **error})


class Runs:
    """The steps of all operations on runs that need more than one request."""

    def __init__(self, settings: Settings, pacing: Pacing) -> None:
        self._settings = settings
        self._pacing = pacing

    def send(self, call: Call) -> Steps[Reply]:
        return exchange(self._settings, self._pacing, call)

    def body(self, call: Call) -> Steps[Any]:
        reply = yield from self.send(call)
        return reply.body

    def run(self, call: Call, poll_seconds: float) -> Steps[CompletedRun]:
        reply = yield from self.send(call)
        body = reply.body
        if not body.get("_async"):
            return CompletedRun(body["result"], body["cost"], body["ms"], reply.headers.get("x-execution-id", ""))
        # It takes longer than the service lets a request wait: the same run goes on.
        return (yield from self.ended(body["executionId"], poll_seconds))

    def ended(self, execution_id: str, poll_seconds: float) -> Steps[CompletedRun]:
        """Waits for a run.

        Raises:
            NodeloomError: why it did not complete.
        """
        execution = yield from self.wait(execution_id, poll_seconds, None)
        if execution["status"] != "completed":
            raise _failure(execution)
        result = execution.get("result") or {}
        return CompletedRun(result, execution["creditsCost"], execution["durationMs"], execution["executionId"])

    def wait(self, execution_id: str, poll_seconds: float, on_poll: Callable[[Execution], None] | None) -> Steps[Execution]:
        while True:
            execution: Execution = yield from self.body(Call("getExecution", params={"id": execution_id}))
            if on_poll is not None:
                on_poll(execution)
            if execution["status"] in FINAL:
                return execution
            yield Pause(poll_seconds)

    def wait_for_batch(self, batch_id: str, poll_seconds: float) -> Steps[BatchWithRows]:
        while True:
            batch: BatchWithRows = yield from self.body(Call("getBatch", params={"id": batch_id}, query={"limit": 1}))
            if batch["status"] not in GOING:
                return batch
            yield Pause(poll_seconds)

    def wait_for_tests(self, slug: str, batch_id: str, poll_seconds: float) -> Steps[TestRunWithResults]:
        while True:
            run: TestRunWithResults = yield from self.body(Call("getTestRun", params={"slug": slug, "id": batch_id}))
            if run["status"] != "running":
                return run
            yield Pause(poll_seconds)

    def watch(self, execution_id: str, after: int) -> Steps[Reply]:
        """Opens the stream of an execution's events after one of them."""
        headers = {"accept": "text/event-stream"}
        if after > 0:
            headers["last-event-id"] = str(after)
        call = Call("watchExecution", params={"id": execution_id}, headers=headers)
        return exchange(self._settings, self._pacing, call, streamed=True)
