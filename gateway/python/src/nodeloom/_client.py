"""The synchronous client."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, TypeVar, cast

import httpx
import httpx_sse

from ._errors import NodeloomError
from ._exchange import Call, Pause, Reply, Send, Settings, Steps, form
from ._operations import OperationId
from ._pacing import Pacing
from ._runs import POLL_SECONDS, RECONNECT_SECONDS, CompletedRun, Event, Following, Runs, selection, target_call
from ._settings import DEFAULT_TIMEOUT, settings_of
from ._types import (
    Batch,
    BatchRow,
    BatchWithRows,
    BundleImport,
    CreatedBatch,
    CreatedErasure,
    Erasure,
    Decision,
    Execution,
    FileVerification,
    InputSchema,
    Media,
    Model,
    NewWorkflow,
    PublicSchema,
    Quote,
    RunWebhook,
    SubmitResult,
    UsagePage,
    User,
    Workflow,
    WorkflowAlias,
    WorkflowChanges,
    WorkflowSummary,
    WorkflowVersionHead,
)

T = TypeVar("T")


class Nodeloom:
    """A client of one service. It keeps within the rate limits that answers report, and repeats what may be repeated.

    Every method raises NodeloomError for what the service refuses, and for no answer at all (code NETWORK_ERROR).

    Args:
        api_key: By default the environment's NODELOOM_API_KEY. Without one only public operations work.
        base_url: By default the environment's NODELOOM_BASE_URL, else http://127.0.0.1:8080.
        max_retries: How often a request is sent again after 429, 503 or no answer.
        place_timeout: Seconds that a run waits for a place while too many are under way; 0: not at all.
        max_pause: A longer wait for a window, or asked for by Retry-After, is an answer; seconds.
        http_client: Where requests are made by another httpx.Client than the default.
    """

    def __init__(
        self,
        api_key: str | None = None,
        *,
        base_url: str | None = None,
        max_retries: int = 5,
        place_timeout: float = 3_600.0,
        max_pause: float = 120.0,
        http_client: httpx.Client | None = None,
    ) -> None:
        self._settings: Settings = settings_of(api_key, base_url, max_retries, place_timeout, max_pause)
        self._http = http_client or httpx.Client(timeout=DEFAULT_TIMEOUT)
        self._runs = Runs(self._settings, Pacing(max_pause))
        self.workflows = Workflows(self)
        self.models = Models(self)
        self.executions = Executions(self)
        self.erasures = Erasures(self)
        self.batches = Batches(self)
        self.bundles = Bundles(self)
        self.usage = Usage(self)

    def __enter__(self) -> Nodeloom:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Closes its connections."""
        self._http.close()

    def _exchange(self, request: Send) -> Reply:
        try:
            built = self._http.build_request(request.method, request.url, headers=request.headers, content=request.content)
            # httpx takes x-api-key along to any host that a redirect names.
            response = self._http.send(built, stream=request.streamed, follow_redirects=False)
            if request.streamed and response.is_success and response.status_code != httpx.codes.NO_CONTENT:
                return Reply(response.status_code, response.headers, stream=response)
            content = response.read()
            return Reply(response.status_code, response.headers, content)
        except httpx.TransportError as error:
            return Reply(0, httpx.Headers(), cause=error)

    def _carry_out(self, steps: Steps[T]) -> T:
        """Does what the steps of a call ask for, and gives what they return."""
        reply: Reply | None = None
        try:
            while True:
                step = steps.send(reply)
                if isinstance(step, Pause):
                    time.sleep(step.seconds)
                    reply = None
                else:
                    reply = self._exchange(step)
        except StopIteration as stop:
            return cast("T", stop.value)

    def _body(self, call: Call) -> Any:
        return self._carry_out(self._runs.body(call))

    def run(
        self,
        workflow: str | None = None,
        inputs: Mapping[str, Any] | None = None,
        *,
        model: str | None = None,
        until: str | None = None,
        alias: str | None = None,
        version: int | str | None = None,
        max_credits: float | None = None,
        webhook: RunWebhook | None = None,
        retention_days: int | None = None,
        idempotency_key: str | None = None,
        headers: Mapping[str, str] | None = None,
        poll_seconds: float = POLL_SECONDS,
    ) -> CompletedRun:
        """Runs a workflow, by its slug, or a model, and waits for the result, however long it takes.

        Args:
            until: Id of a node: only that node and what it needs are run.
            alias: An alias of the workflow, such as `staging`. Without `alias` and `version`, `production` runs.
            version: A published version's number, or `draft`, instead of an alias.
            max_credits: The run is refused if it could cost more. A quote's `estimatedCreditCost` will do.
            webhook: Receives the messages of this run in place of the key's webhook: `{"url": …, "events": […]}`.
            retention_days: Days for which the execution is kept after its end, if the workflow sets no fewer. With 0, only its
                result is kept, for 28 hours.
            idempotency_key: The same key and body run once; a random one unless given.

        Raises:
            NodeloomError: why it was refused, failed or was cancelled.
        """
        call = target_call(
            "run",
            workflow=workflow,
            model=model,
            inputs=inputs,
            until=until,
            alias=alias,
            version=version,
            max_credits=max_credits,
            webhook=webhook,
            retention_days=retention_days,
            headers=headers,
            idempotency_key=idempotency_key,
        )
        return self._carry_out(self._runs.run(call, poll_seconds))

    def submit(
        self,
        workflow: str | None = None,
        inputs: Mapping[str, Any] | None = None,
        *,
        model: str | None = None,
        until: str | None = None,
        alias: str | None = None,
        version: int | str | None = None,
        max_credits: float | None = None,
        webhook: RunWebhook | None = None,
        retention_days: int | None = None,
        idempotency_key: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> SubmitResult:
        """Starts a run that is waited for later, or announced by a webhook. Takes what `run` takes."""
        call = target_call(
            "run",
            workflow=workflow,
            model=model,
            inputs=inputs,
            until=until,
            alias=alias,
            version=version,
            max_credits=max_credits,
            webhook=webhook,
            retention_days=retention_days,
            headers={"prefer": "respond-async", **(headers or {})},
            idempotency_key=idempotency_key,
        )
        return cast("SubmitResult", self._body(call))

    def wait(
        self, execution_id: str, *, poll_seconds: float = POLL_SECONDS, on_poll: Callable[[Execution], None] | None = None
    ) -> Execution:
        """Polls, within the rate limits, until an execution is completed, failed or cancelled."""
        return self._carry_out(self._runs.wait(execution_id, poll_seconds, on_poll))

    def events(self, execution_id: str, *, after: int = 0) -> Iterator[Event]:
        """What happens to an execution, until it is over. A lost connection is resumed after the last event.

        Args:
            after: The last event that is known; the stream begins after it.
        """
        following = Following(after)
        while not following.is_over:
            following.opened()
            reply = self._carry_out(self._runs.watch(execution_id, following.last))
            if reply.stream is None:
                return
            cause: Exception | None = None
            try:
                for message in httpx_sse.EventSource(reply.stream).iter_sse():
                    # A message may be nothing but the stream's settings.
                    if not message.data:
                        continue
                    yield following.read(message.id, message.data)
                    if following.is_over:
                        return
            except httpx.TransportError as error:
                cause = error
            finally:
                reply.stream.close()
            following.broke(cause)
            time.sleep(RECONNECT_SECONDS)

    def cancel(self, execution_id: str) -> str:
        """Cancels a run. Gives `cancel_requested`, or why there is nothing to cancel: `already_completed`, …"""
        body = self._body(Call("cancelExecution", params={"id": execution_id}))
        return cast("str", body["status"])

    def decide(
        self,
        execution_id: str,
        node_id: str,
        decision: Literal["approve", "reject"],
        *,
        value: Any = None,
        comment: str | None = None,
    ) -> Decision:
        """Decides what an execution waits for; `value` goes on instead of what was looked at. `comment` is kept with the decision.

        Raises:
            NodeloomError: `NOT_WAITING` once it was decided.
        """
        content: dict[str, Any] = {"nodeId": node_id, "decision": decision}
        if value is not None:
            content["value"] = value
        if comment is not None:
            content["comment"] = comment
        return cast("Decision", self._body(Call("decideExecution", params={"id": execution_id}, body=content)))

    def quote(
        self,
        workflow: str | None = None,
        inputs: Mapping[str, Any] | None = None,
        *,
        model: str | None = None,
        until: str | None = None,
        alias: str | None = None,
        version: int | str | None = None,
    ) -> Quote:
        """Validates and prices a run without running it."""
        call = target_call("quote", workflow=workflow, model=model, inputs=inputs, until=until, alias=alias, version=version)
        return cast("Quote", self._body(call))

    def upload(self, file: bytes | str | os.PathLike[str]) -> Media:
        """Stores a file, given as bytes or by its path; its `id` or `url` is an input of workflows and models."""
        content = file if isinstance(file, bytes) else Path(file).read_bytes()
        return cast("Media", self._body(Call("uploadMedia", body=content)))

    def verify(self, file: bytes | str | os.PathLike[str]) -> FileVerification:
        """Checks the signed content credentials (C2PA) of a file, given as bytes or by its path. It isn't stored."""
        content = file if isinstance(file, bytes) else Path(file).read_bytes()
        return cast("FileVerification", self._body(Call("verifyFile", body=content)))

    def download(self, file: str | Mapping[str, Any], path: str | os.PathLike[str]) -> Path:
        """Saves a file that a run made: an address, or an object with a `url`.

        Raises:
            NodeloomError: it is not there, or could not be read to its end; nothing is left at the path then.
        """
        url = file if isinstance(file, str) else cast("str", file["url"])
        target = Path(path)
        part = target.with_name(f"{target.name}.part")
        try:
            with self._http.stream("GET", url) as response:
                if not response.is_success:
                    raise NodeloomError(f"{url} answered {response.status_code}", status=response.status_code, code=None)
                with part.open("wb") as output:
                    for chunk in response.iter_bytes():
                        output.write(chunk)
        except httpx.TransportError as error:
            part.unlink(missing_ok=True)
            raise NodeloomError("the file could not be read", status=0, code="NETWORK_ERROR") from error
        part.replace(target)
        return target

    def whoami(self) -> User:
        """Whose key this is."""
        body = self._body(Call("whoami"))
        return cast("User", body["user"])

    def request(
        self,
        operation: OperationId,
        *,
        params: Mapping[str, str] | None = None,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | bytes | None = None,
        headers: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
    ) -> Reply:
        """Any operation by its id in the OpenAPI document: its status, headers and body."""
        call = Call(operation, params or {}, query or {}, body, headers or {}, idempotency_key)
        return self._carry_out(self._runs.send(call))


class Workflows:
    """Saved workflows, by their slugs."""

    def __init__(self, client: Nodeloom) -> None:
        self._client = client

    def list(self) -> Sequence[WorkflowSummary]:
        return cast("Sequence[WorkflowSummary]", self._client._body(Call("listWorkflows")))

    def get(self, slug: str) -> Workflow:
        return cast("Workflow", self._client._body(Call("getWorkflow", params={"slug": slug})))

    def create(self, workflow: NewWorkflow, *, idempotency_key: str | None = None) -> Workflow:
        call = Call("createWorkflow", body=cast("Mapping[str, Any]", workflow), idempotency_key=idempotency_key)
        return cast("Workflow", self._client._body(call))

    def update(self, slug: str, changes: WorkflowChanges | Workflow, *, if_match: str | None = None) -> Workflow:
        """Members that are given overwrite; a workflow that was read can be sent back.

        Args:
            if_match: An ETag: only that revision is changed.
        """
        headers = {} if if_match is None else {"if-match": if_match}
        call = Call("updateWorkflow", params={"slug": slug}, body=cast("Mapping[str, Any]", changes), headers=headers)
        return cast("Workflow", self._client._body(call))

    def move(self, slug: str, folder_id: str | None) -> Workflow:
        """To a folder, or with None to the root level."""
        call = Call("moveWorkflow", params={"slug": slug}, body={"folderId": folder_id})
        return cast("Workflow", self._client._body(call))

    def delete(self, slug: str) -> None:
        self._client._body(Call("deleteWorkflow", params={"slug": slug}))

    def schema(self, slug: str, *, alias: str | None = None, version: int | str | None = None) -> InputSchema:
        call = Call("getWorkflowSchema", params={"slug": slug}, query=selection(alias, version))
        return cast("InputSchema", self._client._body(call))

    def public_schema(self, slug: str) -> PublicSchema:
        return cast("PublicSchema", self._client._body(Call("getPublicSchema", params={"slug": slug})))

    def publish(self, slug: str, note: str | None = None) -> WorkflowVersionHead:
        """Publishes the draft as the next version."""
        call = Call("publishVersion", params={"slug": slug}, body={} if note is None else {"note": note})
        return cast("WorkflowVersionHead", self._client._body(call))

    def aliases(self, slug: str) -> Sequence[WorkflowAlias]:
        """The aliases of a workflow, `production` first."""
        return cast("Sequence[WorkflowAlias]", self._client._body(Call("listAliases", params={"slug": slug})))

    def set_alias(self, slug: str, name: str, version: int, *, only_from: int | None = None) -> WorkflowAlias:
        """Points an alias to a published version: promotes it, or rolls back.

        Args:
            only_from: The version that the alias must point to now.

        Raises:
            NodeloomError: PRECONDITION_FAILED if the alias points to another version than `only_from`.
        """
        body: dict[str, Any] = {"version": version, **({} if only_from is None else {"if": {"version": only_from}})}
        call = Call("setAlias", params={"slug": slug, "name": name}, body=body)
        return cast("WorkflowAlias", self._client._body(call))

    def delete_alias(self, slug: str, name: str) -> None:
        self._client._body(Call("deleteAlias", params={"slug": slug, "name": name}))


class Models:
    """Registered models, by their internal names."""

    def __init__(self, client: Nodeloom) -> None:
        self._client = client

    def list(self, **query: Any) -> Sequence[Model]:
        return cast("Sequence[Model]", self._client._body(Call("listModels", query=query)))

    def get(self, internal_name: str) -> Model:
        return cast("Model", self._client._body(Call("getModel", params={"internalName": internal_name})))


class Executions:
    """Runs, by their execution ids."""

    def __init__(self, client: Nodeloom) -> None:
        self._client = client

    def list(self, **query: Any) -> Mapping[str, Any]:
        """A page of executions: `rows`, and the `nextCursor` of the next page."""
        return cast("Mapping[str, Any]", self._client._body(Call("listExecutions", query=query)))

    def get(self, execution_id: str) -> Execution:
        return cast("Execution", self._client._body(Call("getExecution", params={"id": execution_id})))

    def delete(self, execution_id: str) -> None:
        """Deletes a run that is over, with its inputs, outputs and files.

        Readers don't find it any more, and its data is removed within 10 minutes.

        Raises:
            NodeloomError: `EXECUTION_NOT_FINAL` while it is under way.
        """
        self._client._body(Call("deleteExecution", params={"id": execution_id}))


class Erasures:
    """Erasures: executions that are removed by id, metadata or workflow."""

    def __init__(self, client: Nodeloom) -> None:
        self._client = client

    def create(self, *, idempotency_key: str | None = None, **order: Any) -> CreatedErasure:
        """Erases executions; the key needs `erasure:write`.

        Args:
            order: Exactly one of `executions`, `metadata` and `workflow`; optionally `before` and `dryRun`, which only counts.
        """
        call = Call("createErasure", body=order, idempotency_key=idempotency_key)
        return cast("CreatedErasure", self._client._body(call))

    def get(self, erasure_id: str) -> Erasure:
        """The progress of an erasure: `remaining` is 0 when everything is removed."""
        return cast("Erasure", self._client._body(Call("getErasure", params={"id": erasure_id})))


class Batches:
    """Batches: many runs of one workflow or model, with one budget."""

    def __init__(self, client: Nodeloom) -> None:
        self._client = client

    def create(
        self,
        workflow: str | None = None,
        inputs: Sequence[Mapping[str, Any]] | None = None,
        *,
        model: str | None = None,
        alias: str | None = None,
        version: int | str | None = None,
        idempotency_key: str | None = None,
        **order: Any,
    ) -> CreatedBatch:
        """Begins a batch of a workflow, by its slug, or of a model.

        Args:
            inputs: One mapping an item. Or give `items` (with settings of their own), or `mediaId` of a CSV or JSONL file.
            order: What else the API takes: `maxCredits`, `concurrency`, `onError`, `metadata`, `itemWebhooks`.

        Raises:
            NodeloomError: with `details["issues"]`, each with its `index`, where an item is wrong. Nothing has begun then.
        """
        if (workflow is None) == (model is None):
            raise TypeError("name either a workflow or a model")
        body = {**({} if inputs is None else {"inputs": [dict(one) for one in inputs]}), **order}
        if workflow is not None:
            query = selection(alias, version)
            call = Call("createWorkflowBatch", params={"slug": workflow}, query=query, body=body, idempotency_key=idempotency_key)
        else:
            call = Call("createModelBatch", params={"internalName": model or ""}, body=body, idempotency_key=idempotency_key)
        return cast("CreatedBatch", self._client._body(call))

    def list(self, **query: Any) -> Mapping[str, Any]:
        """A page of batches: `rows`, and the `nextCursor` of the next page."""
        return cast("Mapping[str, Any]", self._client._body(Call("listBatches", query=query)))

    def get(self, batch_id: str, **query: Any) -> BatchWithRows:
        """A batch with the first of its rows, or those after `cursor`."""
        return cast("BatchWithRows", self._client._body(Call("getBatch", params={"id": batch_id}, query=query)))

    def wait(self, batch_id: str, *, poll_seconds: float = POLL_SECONDS) -> BatchWithRows:
        """Polls until a batch is over or paused, within the rate limits."""
        return self._client._carry_out(self._client._runs.wait_for_batch(batch_id, poll_seconds))

    def results(self, batch_id: str) -> Iterator[BatchRow]:
        """All rows with their results, in their order, however many."""
        query: dict[str, Any] = {"limit": 100}
        while True:
            page = self.get(batch_id, **query)
            for row in page["rows"]:
                yield row
            cursor = page["nextCursor"]
            if cursor is None:
                return
            query["cursor"] = cursor

    def cancel(self, batch_id: str) -> Batch:
        return cast("Batch", self._client._body(Call("cancelBatch", params={"id": batch_id})))

    def resume(self, batch_id: str, *, max_credits: float | None = None) -> Batch:
        """Goes on with a paused batch, with another limit where one is given."""
        body = {} if max_credits is None else {"maxCredits": max_credits}
        return cast("Batch", self._client._body(Call("resumeBatch", params={"id": batch_id}, body=body)))

    def rerun(self, batch_id: str, status: str = "failed", *, idempotency_key: str | None = None) -> CreatedBatch:
        """A new batch of the rows that ended so: `failed`, `cancelled` or `skipped`."""
        call = Call("rerunBatch", params={"id": batch_id}, body={"status": status}, idempotency_key=idempotency_key)
        return cast("CreatedBatch", self._client._body(call))


class Bundles:
    """Workflows with their files in one ZIP archive, for other accounts and for version control."""

    def __init__(self, client: Nodeloom) -> None:
        self._client = client

    def export(self, slugs: Sequence[str]) -> bytes:
        """The drafts of workflows, the workflows inside them, and their files."""
        call = Call("exportBundle", query={"slugs": ",".join(slugs)}, headers={"accept": "application/zip"})
        reply = self._client._carry_out(self._client._runs.send(call))
        return reply.content

    def import_(
        self,
        bundle: bytes | str | os.PathLike[str],
        *,
        dry_run: bool = False,
        alias: str | None = None,
        plan_id: str | None = None,
        overwrite: bool = False,
    ) -> BundleImport:
        """Creates and updates the workflows of an archive, given as bytes or by its path, or plans that.

        While `state` is `applying`, send it again with the `planId`.

        Args:
            dry_run: Only plans.
            alias: Publishes each workflow and points this alias to its version. Without it, only drafts change.
            plan_id: Imports only if this plan still holds, or continues its import.
            overwrite: Replaces workflows in conflict.

        Raises:
            NodeloomError: `PLAN_STALE` or `BUNDLE_CONFLICT`.
        """
        content = bundle if isinstance(bundle, bytes) else Path(bundle).read_bytes()
        fields = {"dryRun": "true" if dry_run else None, "alias": alias, "planId": plan_id, "overwrite": "true" if overwrite else None}
        body, content_type = form({name: value for name, value in fields.items() if value is not None}, "bundle", content)
        return cast("BundleImport", self._client._body(Call("importBundle", body=body, headers={"content-type": content_type})))


class Usage:
    """What runs have cost."""

    def __init__(self, client: Nodeloom) -> None:
        self._client = client

    def list(self, **query: Any) -> UsagePage:
        return cast("UsagePage", self._client._body(Call("listUsage", query=query)))

    def models(self) -> Sequence[str]:
        return cast("Sequence[str]", self._client._body(Call("listUsageModels")))
