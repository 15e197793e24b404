"""Resources of an account: the members of the asynchronous client."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ._exchange import Call, form
from ._runs import POLL_SECONDS, batch_call, selection
from ._types import (
    Batch,
    BatchQuote,
    BatchRow,
    BatchWithRows,
    BundleImport,
    CanarySettings,
    CreatedBatch,
    CreatedErasure,
    EndpointDelivery,
    Erasure,
    Execution,
    Hook,
    InputSchema,
    IssuedHook,
    MediaFile,
    MediaPage,
    Model,
    NewHook,
    NewSchedule,
    NewWebhookEndpoint,
    NewWorkflow,
    PublicSchema,
    RunTestsRequest,
    Schedule,
    ScheduleChange,
    ScheduleWithRuns,
    StartedTests,
    TestRunWithResults,
    UsagePage,
    UsageSummary,
    WebhookEndpoint,
    WebhookEndpointEdit,
    WebhookEndpointWithSecret,
    Workflow,
    WorkflowAlias,
    WorkflowChanges,
    WorkflowSummary,
    WorkflowVersion,
    WorkflowVersionHead,
)

if TYPE_CHECKING:
    from ._async_client import AsyncNodeloom


class AsyncWorkflows:
    """Saved workflows, by their slugs."""

    def __init__(self, client: AsyncNodeloom) -> None:
        self._client = client

    async def list(self) -> Sequence[WorkflowSummary]:
        return cast("Sequence[WorkflowSummary]", await self._client._body(Call("listWorkflows")))

    async def get(self, slug: str) -> Workflow:
        return cast("Workflow", await self._client._body(Call("getWorkflow", params={"slug": slug})))

    async def create(self, workflow: NewWorkflow, *, idempotency_key: str | None = None) -> Workflow:
        call = Call("createWorkflow", body=cast("Mapping[str, Any]", workflow), idempotency_key=idempotency_key)
        return cast("Workflow", await self._client._body(call))

    async def update(self, slug: str, changes: WorkflowChanges | Workflow, *, if_match: str | None = None) -> Workflow:
        """Replaces the given members. You can send back a workflow that you read.

        Args:
            if_match: An ETag: only that revision is changed.
        """
        headers = {} if if_match is None else {"if-match": if_match}
        call = Call("updateWorkflow", params={"slug": slug}, body=cast("Mapping[str, Any]", changes), headers=headers)
        return cast("Workflow", await self._client._body(call))

    async def move(self, slug: str, folder_id: str | None) -> Workflow:
        """Moves a workflow to a folder, or to the root level with None."""
        call = Call("moveWorkflow", params={"slug": slug}, body={"folderId": folder_id})
        return cast("Workflow", await self._client._body(call))

    async def delete(self, slug: str) -> None:
        await self._client._body(Call("deleteWorkflow", params={"slug": slug}))

    async def schema(self, slug: str, *, alias: str | None = None, version: int | str | None = None) -> InputSchema:
        call = Call("getWorkflowSchema", params={"slug": slug}, query=selection(alias, version))
        return cast("InputSchema", await self._client._body(call))

    async def public_schema(self, slug: str) -> PublicSchema:
        return cast("PublicSchema", await self._client._body(Call("getPublicSchema", params={"slug": slug})))

    async def publish(self, slug: str, note: str | None = None) -> WorkflowVersionHead:
        """Publishes the draft as the next version."""
        call = Call("publishVersion", params={"slug": slug}, body={} if note is None else {"note": note})
        return cast("WorkflowVersionHead", await self._client._body(call))

    async def aliases(self, slug: str) -> Sequence[WorkflowAlias]:
        """The aliases of a workflow, `production` first."""
        return cast("Sequence[WorkflowAlias]", await self._client._body(Call("listAliases", params={"slug": slug})))

    async def set_alias(
        self,
        slug: str,
        name: str,
        version: int,
        *,
        only_from: int | None = None,
        canary: CanarySettings | None = None,
        stop_canary: bool = False,
    ) -> WorkflowAlias:
        """Points an alias to a published version: promotes the version, or rolls back.

        Args:
            only_from: The version that the alias must point to now.
            canary: Sends a share of the runs to another version, until it is promoted or rolled back.
            stop_canary: Ends the canary.

        Raises:
            NodeloomError: PRECONDITION_FAILED if the alias points to another version than `only_from`; CANARY_SHAPE if the canary has
                other input fields or result names.
        """
        body: dict[str, Any] = {"version": version, **({} if only_from is None else {"if": {"version": only_from}})}
        if canary is not None or stop_canary:
            body["canary"] = canary
        call = Call("setAlias", params={"slug": slug, "name": name}, body=body)
        return cast("WorkflowAlias", await self._client._body(call))

    async def delete_alias(self, slug: str, name: str) -> None:
        await self._client._body(Call("deleteAlias", params={"slug": slug, "name": name}))


class AsyncModels:
    """Registered models, by their internal names."""

    def __init__(self, client: AsyncNodeloom) -> None:
        self._client = client

    async def list(self, **query: Any) -> Sequence[Model]:
        return cast("Sequence[Model]", await self._client._body(Call("listModels", query=query)))

    async def get(self, internal_name: str) -> Model:
        return cast("Model", await self._client._body(Call("getModel", params={"internalName": internal_name})))


class AsyncExecutions:
    """Runs, by their execution ids."""

    def __init__(self, client: AsyncNodeloom) -> None:
        self._client = client

    async def list(self, **query: Any) -> Mapping[str, Any]:
        """A page of executions: `rows`, and the `nextCursor` of the next page."""
        return cast("Mapping[str, Any]", await self._client._body(Call("listExecutions", query=query)))

    async def get(self, execution_id: str) -> Execution:
        return cast("Execution", await self._client._body(Call("getExecution", params={"id": execution_id})))

    async def delete(self, execution_id: str) -> None:
        """Deletes a run that is over, with its inputs, outputs and files.

        Readers don't find it any more, and its data is removed within 10 minutes.

        Raises:
            NodeloomError: `EXECUTION_NOT_FINAL` while it is under way.
        """
        await self._client._body(Call("deleteExecution", params={"id": execution_id}))


class AsyncErasures:
    """Erasures: executions that are removed by id, metadata or workflow."""

    def __init__(self, client: AsyncNodeloom) -> None:
        self._client = client

    async def create(self, *, idempotency_key: str | None = None, **order: Any) -> CreatedErasure:
        """Erases executions; the key needs `erasure:write`.

        Args:
            order: Exactly one of `executions`, `metadata` and `workflow`; optionally `before` and `dryRun`, which only counts.
        """
        call = Call("createErasure", body=order, idempotency_key=idempotency_key)
        return cast("CreatedErasure", await self._client._body(call))

    async def get(self, erasure_id: str) -> Erasure:
        """The progress of an erasure: `remaining` is 0 when everything is removed."""
        return cast("Erasure", await self._client._body(Call("getErasure", params={"id": erasure_id})))

    async def list(self, **query: Any) -> Mapping[str, Any]:
        """A page of erasures, newest first: `rows`, and the `nextCursor` of the next page."""
        return cast("Mapping[str, Any]", await self._client._body(Call("listErasures", query=query)))


class AsyncBatches:
    """Batches: many runs of one workflow or model, with one budget."""

    def __init__(self, client: AsyncNodeloom) -> None:
        self._client = client

    async def create(
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
        """Starts a batch of a workflow (by its slug) or of a model.

        Args:
            inputs: One mapping an item. Or give `items` (with settings of their own), or `mediaId` of a CSV or JSONL file.
            order: What else the API takes: `maxCredits`, `concurrency`, `onError`, `metadata`, `itemWebhooks`.

        Raises:
            NodeloomError: with `details["issues"]`, each with its `index`, where an item is wrong. Nothing has begun then.
        """
        call = batch_call(
            "create",
            workflow=workflow,
            model=model,
            inputs=inputs,
            alias=alias,
            version=version,
            order=order,
            idempotency_key=idempotency_key,
        )
        return cast("CreatedBatch", await self._client._body(call))

    async def quote(
        self,
        workflow: str | None = None,
        inputs: Sequence[Mapping[str, Any]] | None = None,
        *,
        model: str | None = None,
        alias: str | None = None,
        version: int | str | None = None,
        **order: Any,
    ) -> BatchQuote:
        """Validates and prices all items of a batch without running them. Arguments are those of `create`."""
        call = batch_call("quote", workflow=workflow, model=model, inputs=inputs, alias=alias, version=version, order=order)
        return cast("BatchQuote", await self._client._body(call))

    async def list(self, **query: Any) -> Mapping[str, Any]:
        """A page of batches: `rows`, and the `nextCursor` of the next page."""
        return cast("Mapping[str, Any]", await self._client._body(Call("listBatches", query=query)))

    async def get(self, batch_id: str, **query: Any) -> BatchWithRows:
        """A batch with the first of its rows, or those after `cursor`."""
        return cast("BatchWithRows", await self._client._body(Call("getBatch", params={"id": batch_id}, query=query)))

    async def wait(self, batch_id: str, *, poll_seconds: float = POLL_SECONDS) -> BatchWithRows:
        """Polls until a batch is over or paused, within the rate limits."""
        return await self._client._carry_out(self._client._runs.wait_for_batch(batch_id, poll_seconds))

    async def results(self, batch_id: str) -> AsyncIterator[BatchRow]:
        """All rows with their results, in order."""
        query: dict[str, Any] = {"limit": 100}
        while True:
            page = await self.get(batch_id, **query)
            for row in page["rows"]:
                yield row
            cursor = page["nextCursor"]
            if cursor is None:
                return
            query["cursor"] = cursor

    async def cancel(self, batch_id: str) -> Batch:
        return cast("Batch", await self._client._body(Call("cancelBatch", params={"id": batch_id})))

    async def resume(self, batch_id: str, *, max_credits: float | None = None) -> Batch:
        """Resumes a paused batch, with a new limit if you pass one."""
        body = {} if max_credits is None else {"maxCredits": max_credits}
        return cast("Batch", await self._client._body(Call("resumeBatch", params={"id": batch_id}, body=body)))

    async def rerun(self, batch_id: str, status: str = "failed", *, idempotency_key: str | None = None) -> CreatedBatch:
        """Starts a new batch of the rows with this status: `failed`, `cancelled` or `skipped`."""
        call = Call("rerunBatch", params={"id": batch_id}, body={"status": status}, idempotency_key=idempotency_key)
        return cast("CreatedBatch", await self._client._body(call))


class AsyncBundles:
    """Workflows with their files in one ZIP archive, for other accounts and for version control."""

    def __init__(self, client: AsyncNodeloom) -> None:
        self._client = client

    async def export(self, slugs: Sequence[str]) -> bytes:
        """The drafts of workflows, the workflows inside them, and their files."""
        call = Call("exportBundle", query={"slugs": ",".join(slugs)}, headers={"accept": "application/zip"})
        reply = await self._client._carry_out(self._client._runs.send(call))
        return reply.content

    async def import_(
        self,
        bundle: bytes | str | os.PathLike[str],
        *,
        dry_run: bool = False,
        alias: str | None = None,
        plan_id: str | None = None,
        overwrite: bool = False,
    ) -> BundleImport:
        """Creates and updates the workflows of an archive, passed as bytes or as a path, or plans the changes.

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
        return cast("BundleImport", await self._client._body(Call("importBundle", body=body, headers={"content-type": content_type})))


class AsyncUsage:
    """The cost of runs."""

    def __init__(self, client: AsyncNodeloom) -> None:
        self._client = client

    async def summary(self, **query: Any) -> UsageSummary:
        """The cost of runs, by day and model.

        Args:
            query: `from` and `to` (as `**{"from": "2026-11-01"}`), `source`, and `groupBy` for another group: `workflow`, `key`,
                `metadata.<name>`.
        """
        return cast("UsageSummary", await self._client._body(Call("getUsageSummary", query=query)))

    async def list(self, **query: Any) -> UsagePage:
        return cast("UsagePage", await self._client._body(Call("listUsage", query=query)))

    async def models(self) -> Sequence[str]:
        return cast("Sequence[str]", await self._client._body(Call("listUsageModels")))


class AsyncVersions:
    """Published versions of workflows."""

    def __init__(self, client: AsyncNodeloom) -> None:
        self._client = client

    async def list(self, slug: str, **query: Any) -> Mapping[str, Any]:
        """A page of versions, newest first: `rows`, and the `nextCursor` of the next page."""
        return cast("Mapping[str, Any]", await self._client._body(Call("listVersions", params={"slug": slug}, query=query)))

    async def get(self, slug: str, version: int) -> WorkflowVersion:
        call = Call("getVersion", params={"slug": slug, "version": str(version)})
        return cast("WorkflowVersion", await self._client._body(call))

    async def restore(self, slug: str, version: int) -> Workflow:
        """Copies a version into the draft."""
        call = Call("restoreVersion", params={"slug": slug, "version": str(version)})
        return cast("Workflow", await self._client._body(call))


class AsyncSchedules:
    """Schedules: workflows that run at set times."""

    def __init__(self, client: AsyncNodeloom) -> None:
        self._client = client

    async def list(self, slug: str | None = None) -> Sequence[Schedule]:
        """Oldest first: those of a workflow, or without `slug` those of all workflows."""
        call = Call("listAllSchedules") if slug is None else Call("listSchedules", params={"slug": slug})
        return cast("Sequence[Schedule]", await self._client._body(call))

    async def get(self, slug: str, schedule_id: str) -> ScheduleWithRuns:
        """A schedule with its latest and next runs."""
        return cast("ScheduleWithRuns", await self._client._body(Call("getSchedule", params={"slug": slug, "id": schedule_id})))

    async def create(self, slug: str, schedule: NewSchedule, *, idempotency_key: str | None = None) -> Schedule:
        body = cast("Mapping[str, Any]", schedule)
        call = Call("createSchedule", params={"slug": slug}, body=body, idempotency_key=idempotency_key)
        return cast("Schedule", await self._client._body(call))

    async def update(self, slug: str, schedule_id: str, change: ScheduleChange) -> Schedule:
        """Replaces the given members; `{"paused": True}` pauses the schedule."""
        body = cast("Mapping[str, Any]", change)
        return cast("Schedule", await self._client._body(Call("updateSchedule", params={"slug": slug, "id": schedule_id}, body=body)))

    async def delete(self, slug: str, schedule_id: str) -> None:
        await self._client._body(Call("deleteSchedule", params={"slug": slug, "id": schedule_id}))


class AsyncHooks:
    """Addresses by which other services start a workflow."""

    def __init__(self, client: AsyncNodeloom) -> None:
        self._client = client

    async def list(self, slug: str | None = None) -> Sequence[Hook]:
        """Oldest first: those of a workflow, or without `slug` those of all workflows."""
        call = Call("listAllHooks") if slug is None else Call("listHooks", params={"slug": slug})
        return cast("Sequence[Hook]", await self._client._body(call))

    async def create(self, slug: str, hook: NewHook) -> IssuedHook:
        """Adds a hook. Its address is shown only once."""
        call = Call("createHook", params={"slug": slug}, body=cast("Mapping[str, Any]", hook))
        return cast("IssuedHook", await self._client._body(call))

    async def delete(self, slug: str, hook_id: str) -> None:
        await self._client._body(Call("deleteHook", params={"slug": slug, "id": hook_id}))


class AsyncMediaFiles:
    """Stored files, by their ids. `client.upload` adds one, and `client.download` reads one."""

    def __init__(self, client: AsyncNodeloom) -> None:
        self._client = client

    async def list(self, **query: Any) -> MediaPage:
        """A page of files, newest first: `rows`, and the `nextCursor` of the next page."""
        return cast("MediaPage", await self._client._body(Call("listMedia", query=query)))

    async def get(self, media_id: str) -> MediaFile:
        """A file with a fresh address."""
        return cast("MediaFile", await self._client._body(Call("getMedia", params={"id": media_id})))

    async def keep(self, media_id: str) -> MediaFile:
        """Keeps a generated file until it is deleted."""
        return cast("MediaFile", await self._client._body(Call("keepMedia", params={"id": media_id})))

    async def delete(self, media_id: str) -> None:
        await self._client._body(Call("deleteMedia", params={"id": media_id}))


class AsyncTests:
    """Runs of workflows' tests."""

    def __init__(self, client: AsyncNodeloom) -> None:
        self._client = client

    async def run(self, slug: str, order: RunTestsRequest | None = None, *, idempotency_key: str | None = None) -> StartedTests:
        """Runs the tests of a workflow: on its draft, unless `version` or `alias` says otherwise.

        Args:
            order: `version`, `alias`, and `against`, a version or alias to compare with. `settings` by node id replace those of the tested
                graph, and `recentRuns` takes the inputs of that many earlier runs instead of the tests.
        """
        body = cast("Mapping[str, Any]", order or {})
        return cast(
            "StartedTests", await self._client._body(Call("runTests", params={"slug": slug}, body=body, idempotency_key=idempotency_key))
        )

    async def quote(self, slug: str, order: RunTestsRequest | None = None) -> BatchQuote:
        """Prices `run` with the same order, without calls that earlier runs made."""
        body = cast("Mapping[str, Any]", order or {})
        return cast("BatchQuote", await self._client._body(Call("quoteTests", params={"slug": slug}, body=body)))

    async def list(self, slug: str, **query: Any) -> Mapping[str, Any]:
        """A page of test runs, newest first: `rows`, and the `nextCursor` of the next page."""
        return cast("Mapping[str, Any]", await self._client._body(Call("listTestRuns", params={"slug": slug}, query=query)))

    async def get(self, slug: str, batch_id: str) -> TestRunWithResults:
        return cast("TestRunWithResults", await self._client._body(Call("getTestRun", params={"slug": slug, "id": batch_id})))

    async def junit(self, slug: str, batch_id: str) -> str:
        """A test run as JUnit XML."""
        return cast("str", await self._client._body(Call("getTestRun", params={"slug": slug, "id": batch_id}, query={"format": "junit"})))

    async def wait(self, slug: str, batch_id: str, *, poll_seconds: float = POLL_SECONDS) -> TestRunWithResults:
        """Polls until a test run is over or paused, within the rate limits."""
        return await self._client._carry_out(self._client._runs.wait_for_tests(slug, batch_id, poll_seconds))


class AsyncWebhookEndpoints:
    """Receivers of the messages about all runs of an account."""

    def __init__(self, client: AsyncNodeloom) -> None:
        self._client = client

    async def list(self) -> Sequence[WebhookEndpoint]:
        body = await self._client._body(Call("listWebhookEndpoints"))
        return cast("Sequence[WebhookEndpoint]", body["endpoints"])

    async def create(self, endpoint: NewWebhookEndpoint) -> WebhookEndpointWithSecret:
        """Adds an endpoint. Its secret is shown this once."""
        call = Call("createWebhookEndpoint", body=cast("Mapping[str, Any]", endpoint))
        return cast("WebhookEndpointWithSecret", await self._client._body(call))

    async def update(self, endpoint_id: str, change: WebhookEndpointEdit) -> WebhookEndpoint:
        """Members that are given overwrite; `{"disabled": True}` stops the messages."""
        call = Call("updateWebhookEndpoint", params={"id": endpoint_id}, body=cast("Mapping[str, Any]", change))
        return cast("WebhookEndpoint", await self._client._body(call))

    async def delete(self, endpoint_id: str) -> None:
        await self._client._body(Call("deleteWebhookEndpoint", params={"id": endpoint_id}))

    async def rotate(self, endpoint_id: str) -> WebhookEndpointWithSecret:
        """Replaces the secret, and shows the new one this once."""
        return cast("WebhookEndpointWithSecret", await self._client._body(Call("rotateWebhookEndpointSecret", params={"id": endpoint_id})))

    async def deliveries(self, endpoint_id: str, **query: Any) -> Mapping[str, Any]:
        """A page of messages to an endpoint, newest first: `rows`, and the `nextCursor` of the next page."""
        call = Call("listWebhookEndpointDeliveries", params={"id": endpoint_id}, query=query)
        return cast("Mapping[str, Any]", await self._client._body(call))

    async def test(self, endpoint_id: str) -> EndpointDelivery:
        """Sends a message of the type `webhook.test`, now; `deliveries` shows its result."""
        return cast("EndpointDelivery", await self._client._body(Call("testWebhookEndpoint", params={"id": endpoint_id})))

    async def redeliver(self, endpoint_id: str, delivery_id: str) -> EndpointDelivery:
        """Sends a message again, now."""
        call = Call("redeliverToWebhookEndpoint", params={"id": endpoint_id, "deliveryId": delivery_id})
        return cast("EndpointDelivery", await self._client._body(call))
