"""Runs: what the two clients do to start, follow and end them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from ._errors import NodeloomError, unreachable
from ._exchange import Call, Pause, Reply, Settings, Steps, exchange
from ._pacing import Pacing
from ._types import BatchWithRows, Execution, RunWebhook

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
        id: Its place in the execution's log, to resume after. That of the event before it for `node.delta`, which is not in the log.
        type: `admitted`, `submitted`, `node.started`, `node.completed`, `node.failed`, …; `settled` is the last. `node.delta` brings a
            piece of a text that is being written.
        at: ISO 8601.
    """

    id: int
    type: str
    at: str
    data: Mapping[str, Any]


class Following:
    """How far the events of an execution were read, over as many connections as that takes."""

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

    def broke(self, cause: BaseException | None) -> None:
        """Notes that a connection ended before the run did.

        Raises:
            NodeloomError: too many did so, soon and without an event.
        """
        # A run may be silent for longer than any one connection is kept.
        self._breaks = self._breaks + 1 if time.monotonic() - self._opened_at < SOON_SECONDS else 0
        if self._breaks > MAX_BREAKS:
            raise unreachable(cause)


@dataclass(frozen=True)
class CompletedRun:
    """A run that gave a result.

    Attributes:
        result: What the workflow's response output gives, by its members.
        cost: Credits.
        ms: How long it took, in milliseconds.
    """

    result: Mapping[str, Any]
    cost: float
    ms: float
    execution_id: str


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
    max_credits: float | None = None,
    webhook: RunWebhook | None = None,
    retention_days: int | None = None,
    headers: Mapping[str, str] | None = None,
    idempotency_key: str | None = None,
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
    body: dict[str, Any] = {"inputs": dict(inputs or {})}
    if max_credits is not None:
        body["maxCredits"] = max_credits
    if webhook is not None:
        body["webhook"] = webhook
    if retention_days is not None:
        body["retentionDays"] = retention_days
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
        headers=headers or {},
        idempotency_key=idempotency_key,
    )


def _failure(execution: Execution) -> NodeloomError:
    error = dict(cast("Mapping[str, Any]", execution.get("error") or {}))
    status, code = (409, "EXECUTION_CANCELLED") if execution["status"] == "cancelled" else (500, "EXECUTION_FAILED")
    code, message = error.pop("code", code), error.pop("message", f"the run was {execution['status']}")
    return NodeloomError(message, status=status, code=code, details={"executionId": execution["executionId"], **error})


class Runs:
    """Steps of everything about runs that takes more than one request."""

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
        execution = yield from self.wait(body["executionId"], poll_seconds, None)
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

    def watch(self, execution_id: str, after: int) -> Steps[Reply]:
        """Opens the stream of an execution's events after one of them."""
        headers = {"accept": "text/event-stream"}
        if after > 0:
            headers["last-event-id"] = str(after)
        call = Call("watchExecution", params={"id": execution_id}, headers=headers)
        return exchange(self._settings, self._pacing, call, streamed=True)
