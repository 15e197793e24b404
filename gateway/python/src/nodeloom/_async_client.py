"""The asynchronous client."""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, TypeVar, cast

import httpx
import httpx_sse
from typing_extensions import Unpack

from ._async_resources import (
    AsyncBatches,
    AsyncBundles,
    AsyncErasures,
    AsyncExecutions,
    AsyncHooks,
    AsyncMediaFiles,
    AsyncModels,
    AsyncSchedules,
    AsyncTests,
    AsyncUsage,
    AsyncVersions,
    AsyncWebhookEndpoints,
    AsyncWorkflows,
)
from ._errors import NodeloomError, unreachable, without_query
from ._exchange import Call, Pause, Reply, Retry, Send, SentRequest, Settings, Steps
from ._operations import OperationId
from ._pacing import Pacing
from ._runs import (
    POLL_SECONDS,
    RECONNECT_SECONDS,
    CompletedRun,
    Event,
    Following,
    RunOptions,
    Runs,
    TextFollower,
    accepted_first,
    rerun_body,
    rerun_call,
    target_call,
)
from ._settings import DEFAULT_TIMEOUT, settings_of
from ._types import Decision, Execution, FileVerification, Media, Quote, RerunQuote, SubmitResult, User

T = TypeVar("T")


class AsyncNodeloom:
    """A client of one service, for asyncio. It respects the rate limits and retries safe requests.

    Every method raises NodeloomError for what the service refuses, and for no answer at all (code NETWORK_ERROR).

    Args:
        api_key: By default the environment's NODELOOM_API_KEY. Without one only public operations work.
        base_url: By default the environment's NODELOOM_BASE_URL, else http://127.0.0.1:8080.
        max_retries: How often a request is sent again after 429, 503 or no answer.
        place_timeout: Seconds that a run waits for a place while too many are under way; 0: not at all.
        max_pause: A longer wait for a window, or asked for by Retry-After, is an answer; seconds.
        http_client: Where requests are made by another httpx.AsyncClient than the default.
        on_retry: Called before a request is sent again.
        on_response: Called after each attempt at a request, for logs.
    """

    def __init__(
        self,
        api_key: str | None = None,
        *,
        base_url: str | None = None,
        max_retries: int = 5,
        place_timeout: float = 3_600.0,
        max_pause: float = 120.0,
        http_client: httpx.AsyncClient | None = None,
        on_retry: Callable[[Retry], None] | None = None,
        on_response: Callable[[SentRequest], None] | None = None,
    ) -> None:
        self._settings: Settings = settings_of(api_key, base_url, max_retries, place_timeout, max_pause, on_retry, on_response)
        self._http = http_client or httpx.AsyncClient(timeout=DEFAULT_TIMEOUT)
        self._runs = Runs(self._settings, Pacing(max_pause))
        self.workflows = AsyncWorkflows(self)
        self.models = AsyncModels(self)
        self.executions = AsyncExecutions(self)
        self.erasures = AsyncErasures(self)
        self.batches = AsyncBatches(self)
        self.bundles = AsyncBundles(self)
        self.usage = AsyncUsage(self)
        self.versions = AsyncVersions(self)
        self.schedules = AsyncSchedules(self)
        self.hooks = AsyncHooks(self)
        self.media = AsyncMediaFiles(self)
        self.tests = AsyncTests(self)
        self.webhook_endpoints = AsyncWebhookEndpoints(self)

    async def __aenter__(self) -> AsyncNodeloom:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes its connections."""
        await self._http.aclose()

    async def _exchange(self, request: Send) -> Reply:
        try:
            built = self._http.build_request(request.method, request.url, headers=request.headers, content=request.content)
            # httpx takes x-api-key along to any host that a redirect names.
            response = await self._http.send(built, stream=request.streamed, follow_redirects=False)
            if request.streamed and response.is_success and response.status_code != httpx.codes.NO_CONTENT:
                return Reply(response.status_code, response.headers, stream=response)
            content = await response.aread()
            return Reply(response.status_code, response.headers, content)
        except httpx.TransportError as error:
            return Reply(0, httpx.Headers(), cause=error, url=request.url)

    async def _carry_out(self, steps: Steps[T]) -> T:
        """Executes the steps of a call and returns their result."""
        reply: Reply | None = None
        try:
            while True:
                step = steps.send(reply)
                if isinstance(step, Pause):
                    await asyncio.sleep(step.seconds)
                    reply = None
                else:
                    reply = await self._exchange(step)
        except StopIteration as stop:
            return cast("T", stop.value)

    async def _body(self, call: Call) -> Any:
        return await self._carry_out(self._runs.body(call))

    async def run(
        self,
        workflow: str | None = None,
        inputs: Mapping[str, Any] | None = None,
        *,
        model: str | None = None,
        until: str | None = None,
        alias: str | None = None,
        version: int | str | None = None,
        poll_seconds: float = POLL_SECONDS,
        **options: Unpack[RunOptions],
    ) -> CompletedRun:
        """Runs a workflow (by its slug) or a model, and waits for the result without a time limit.

        Args:
            until: Id of a node: only that node and what it needs are run.
            alias: An alias of the workflow, such as `staging`. Without `alias` and `version`, `production` runs.
            version: A published version's number, or `draft`, instead of an alias.
            options: See `RunOptions`.

        Raises:
            NodeloomError: why it was refused, failed or was cancelled.
        """
        call = target_call("run", workflow=workflow, model=model, inputs=inputs, until=until, alias=alias, version=version, options=options)
        return await self._carry_out(self._runs.run(call, poll_seconds))

    async def submit(
        self,
        workflow: str | None = None,
        inputs: Mapping[str, Any] | None = None,
        *,
        model: str | None = None,
        until: str | None = None,
        alias: str | None = None,
        version: int | str | None = None,
        **options: Unpack[RunOptions],
    ) -> SubmitResult:
        """Starts a run without waiting. Wait for it later, or receive a webhook. Arguments are those of `run`."""
        call = target_call(
            "run", workflow=workflow, model=model, inputs=inputs, until=until, alias=alias, version=version, options=accepted_first(options)
        )
        return cast("SubmitResult", await self._body(call))

    def stream(
        self,
        workflow: str | None = None,
        inputs: Mapping[str, Any] | None = None,
        *,
        model: str | None = None,
        until: str | None = None,
        alias: str | None = None,
        version: int | str | None = None,
        node_id: str | None = None,
        **options: Unpack[RunOptions],
    ) -> AsyncTextStream:
        """Runs a text model, or a workflow with one. Iterate over the result to get the text while it is written.

        Args:
            node_id: The node whose text is streamed; by default the first one that writes.

        Raises:
            NodeloomError: while iterating, why the run was refused, failed or was cancelled.
        """
        call = target_call(
            "run", workflow=workflow, model=model, inputs=inputs, until=until, alias=alias, version=version, options=accepted_first(options)
        )
        return AsyncTextStream(self, call, node_id)

    async def rerun(
        self,
        execution_id: str,
        *,
        inputs: Mapping[str, Any] | None = None,
        nodes: Sequence[str] | None = None,
        reuse: Sequence[str] | None = None,
        until: str | None = None,
        alias: str | None = None,
        version: int | str | None = None,
        poll_seconds: float = POLL_SECONDS,
        **options: Unpack[RunOptions],
    ) -> CompletedRun:
        """Runs an execution again and waits for the result. Completed calls are reused free of charge.

        Args:
            inputs: By default the inputs of the execution.
            nodes: Ids of nodes whose calls are made again.
            reuse: Ids of nodes whose HTTP requests, or decisions on the same value, are reused.
            options: See `RunOptions`.

        Raises:
            NodeloomError: why it was refused, failed or was cancelled.
        """
        body = rerun_body(inputs=inputs, nodes=nodes, reuse=reuse, until=until, alias=alias, version=version)
        return await self._carry_out(self._runs.run(rerun_call(execution_id, body, options), poll_seconds))

    async def quote_rerun(
        self,
        execution_id: str,
        *,
        inputs: Mapping[str, Any] | None = None,
        nodes: Sequence[str] | None = None,
        reuse: Sequence[str] | None = None,
        until: str | None = None,
        alias: str | None = None,
        version: int | str | None = None,
    ) -> RerunQuote:
        """Prices a rerun and lists the calls that it reuses. Arguments are those of `rerun`."""
        body = rerun_body(inputs=inputs, nodes=nodes, reuse=reuse, until=until, alias=alias, version=version)
        return cast("RerunQuote", await self._body(Call("quoteRerun", params={"id": execution_id}, body=body)))

    async def wait(
        self, execution_id: str, *, poll_seconds: float = POLL_SECONDS, on_poll: Callable[[Execution], None] | None = None
    ) -> Execution:
        """Polls, within the rate limits, until an execution is completed, failed or cancelled."""
        return await self._carry_out(self._runs.wait(execution_id, poll_seconds, on_poll))

    async def events(self, execution_id: str, *, after: int = 0) -> AsyncIterator[Event]:
        """The events of an execution until it is over. After a lost connection, the stream resumes after the last event.

        Args:
            after: The last event that is known; the stream begins after it.
        """
        following = Following(after)
        while not following.is_over:
            following.opened()
            reply = await self._carry_out(self._runs.watch(execution_id, following.last))
            if reply.stream is None:
                return
            cause: Exception | None = None
            try:
                async for message in httpx_sse.EventSource(reply.stream).aiter_sse():
                    # A message may be nothing but the stream's settings.
                    if not message.data:
                        continue
                    yield following.read(message.id, message.data)
                    if following.is_over:
                        return
            except httpx.TransportError as error:
                cause = error
            finally:
                await reply.stream.aclose()
            following.broke(cause, execution_id)
            await asyncio.sleep(RECONNECT_SECONDS)

    async def cancel(self, execution_id: str) -> str:
        """Cancels a run. Returns `cancel_requested`, or the reason why nothing can be cancelled: `already_completed`, …"""
        body = await self._body(Call("cancelExecution", params={"id": execution_id}))
        return cast("str", body["status"])

    async def decide(
        self,
        execution_id: str,
        node_id: str,
        decision: Literal["approve", "reject"],
        *,
        value: Any = None,
        comment: str | None = None,
    ) -> Decision:
        """Decides an approval. `value` replaces the reviewed value. `comment` is stored with the decision.

        Raises:
            NodeloomError: `NOT_WAITING` once it was decided.
        """
        content: dict[str, Any] = {"nodeId": node_id, "decision": decision}
        if value is not None:
            content["value"] = value
        if comment is not None:
            content["comment"] = comment
        return cast("Decision", await self._body(Call("decideExecution", params={"id": execution_id}, body=content)))

    async def quote(
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
        return cast("Quote", await self._body(call))

    async def upload(self, file: bytes | str | os.PathLike[str]) -> Media:
        """Stores a file, passed as bytes or as a path. Workflows and models accept its `id` or `url` as an input."""
        content = file if isinstance(file, bytes) else Path(file).read_bytes()
        return cast("Media", await self._body(Call("uploadMedia", body=content)))

    async def verify(self, file: bytes | str | os.PathLike[str]) -> FileVerification:
        """Checks the signed content credentials (C2PA) of a file, passed as bytes or as a path. The file isn't stored."""
        content = file if isinstance(file, bytes) else Path(file).read_bytes()
        return cast("FileVerification", await self._body(Call("verifyFile", body=content)))

    async def download(self, file: str | Mapping[str, Any], path: str | os.PathLike[str]) -> Path:
        """Saves a result file, passed as an address or as an object with a `url`.

        Raises:
            NodeloomError: it is not there, or could not be read to its end; nothing is left at the path then.
        """
        url = file if isinstance(file, str) else cast("str", file["url"])
        target = Path(path)
        part = target.with_name(f"{target.name}.part")
        try:
            async with self._http.stream("GET", url) as response:
                if not response.is_success:
                    raise NodeloomError(f"{without_query(url)} answered {response.status_code}", status=response.status_code, code=None)
                with part.open("wb") as output:
                    async for chunk in response.aiter_bytes():
                        output.write(chunk)
        except httpx.TransportError as error:
            part.unlink(missing_ok=True)
            raise unreachable(error, without_query(url)) from error
        part.replace(target)
        return target

    async def whoami(self) -> User:
        """The account of the key."""
        body = await self._body(Call("whoami"))
        return cast("User", body["user"])

    async def request(
        self,
        operation: OperationId,
        *,
        params: Mapping[str, str] | None = None,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | bytes | None = None,
        headers: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
    ) -> Reply:
        """Calls any operation by its id in the OpenAPI document. Returns its status, headers and body."""
        call = Call(operation, params or {}, query or {}, body, headers or {}, idempotency_key)
        return await self._carry_out(self._runs.send(call))


class AsyncTextStream:
    """The text of a run, piece by piece. The first iteration starts the run; later iterations follow the same run."""

    def __init__(self, client: AsyncNodeloom, call: Call, node_id: str | None) -> None:
        self._client = client
        self._call = replace(call, idempotency_key=call.idempotency_key or str(uuid.uuid4()))
        self._node_id = node_id
        self._run: CompletedRun | None = None

    async def __aiter__(self) -> AsyncIterator[str]:
        submitted = await self._client._body(self._call)
        follower = TextFollower(self._node_id)
        async for event in self._client.events(submitted["executionId"]):
            piece = follower.piece(event)
            if piece:
                yield piece
        self._run = await self._client._carry_out(self._client._runs.ended(submitted["executionId"], POLL_SECONDS))
        rest = follower.rest(self._run) if self._node_id is None else None
        if rest:
            yield rest

    @property
    def run(self) -> CompletedRun:
        """The completed run. Available after the text was read to its end.

        Raises:
            RuntimeError: before that.
        """
        if self._run is None:
            raise RuntimeError("the run is not over: read the text to its end first")
        return self._run
