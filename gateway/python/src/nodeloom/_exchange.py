"""One request and its retries.

The steps are generators that yield what has to be done (send a request, wait) and are given the outcome, so that the synchronous and
the asynchronous client share them: each only carries the steps out.
"""

from __future__ import annotations

import json
import random
import time
import uuid
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar
from urllib.parse import quote as quote_part
from urllib.parse import urlencode

import httpx

from ._errors import NodeloomError, unreachable, without_query
from ._operations import OPERATIONS, Operation, OperationId
from ._pacing import Pacing

FIRST_BACK_OFF = 0.25
MAX_BACK_OFF = 8.0
IN_PROGRESS_SECONDS = 150.0
"""How long a request may find its own first attempt still running: longer than any run is waited for."""
MAX_PLACE_PAUSE = 10.0
"""Pause between two requests for a place in line."""
HARMLESS = frozenset(
    {
        "cancelExecution",
        "quoteWorkflow",
        "quoteModel",
        "quoteWorkflowBatch",
        "quoteModelBatch",
        "quoteRerun",
        "importBundle",
        "login",
        "logout",
    }
)
"""POST operations that are safe to retry without an Idempotency-Key."""

Body = Mapping[str, Any] | bytes | None


def form(fields: Mapping[str, str], name: str, content: bytes) -> tuple[bytes, str]:
    """A form with one file, and its content type. Fields are this client's own words."""
    boundary = uuid.uuid4().hex
    parts = [f'--{boundary}\r\nContent-Disposition: form-data; name="{field}"\r\n\r\n{value}\r\n' for field, value in fields.items()]
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"; filename="{name}.zip"\r\nContent-Type: application/zip\r\n\r\n'
    body = "".join(parts).encode() + head.encode() + content + f"\r\n--{boundary}--\r\n".encode()
    return body, f"multipart/form-data; boundary={boundary}"


@dataclass(frozen=True)
class Call:
    """The arguments of an operation."""

    operation: OperationId
    params: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Body = None
    headers: Mapping[str, str] = field(default_factory=dict)
    idempotency_key: str | None = None


@dataclass(frozen=True)
class Send:
    """A request to send. With `streamed`, the body of a success is read later."""

    method: str
    url: str
    headers: Mapping[str, str]
    content: bytes | None
    streamed: bool


@dataclass(frozen=True)
class SentRequest:
    """One attempt at a request. It contains neither the key nor the query.

    Attributes:
        status: 0 without an answer.
        ms: How long it took, in milliseconds.
    """

    operation: OperationId
    method: str
    url: str
    status: int
    code: str | None
    request_id: str | None
    ms: float


@dataclass(frozen=True)
class Retry(SentRequest):
    """A failed attempt before a retry.

    Attributes:
        attempt: Attempts so far.
        pause_seconds: The wait before the next one.
    """

    attempt: int
    pause_seconds: float


@dataclass(frozen=True)
class Pause:
    """A wait."""

    seconds: float


@dataclass(frozen=True)
class Reply:
    """A response, with status 0 if there was none. `stream` is set if the body of a success is read later."""

    status: int
    headers: httpx.Headers
    content: bytes = b""
    cause: BaseException | None = None
    stream: httpx.Response | None = None
    url: str = ""

    @property
    def body(self) -> Any:
        """The JSON of the response, its text if it isn't JSON, or None if it is empty."""
        if not self.content:
            return None
        if "json" in self.headers.get("content-type", ""):
            return json.loads(self.content)
        return self.content.decode(errors="replace")


T = TypeVar("T")
Steps = Generator[Send | Pause, Reply | None, T]
"""The steps of a call. Yields the next step, receives the reply of a Send, and returns the result of the call."""


@dataclass(frozen=True)
class Settings:
    """Settings of all requests. Times are in seconds."""

    base_url: str
    api_key: str | None = None
    max_retries: int = 5
    place_timeout: float = 3_600.0
    max_pause: float = 120.0
    on_retry: Callable[[Retry], None] | None = None
    on_response: Callable[[SentRequest], None] | None = None


def _url(base_url: str, operation: Operation, call: Call) -> str:
    path = operation.path
    for name, value in call.params.items():
        path = path.replace(f"{{{name}}}", quote_part(value, safe=""))
    query = [(name, _query_value(value)) for name, value in call.query.items() if value is not None]
    return f"{base_url.rstrip('/')}{path}" + (f"?{urlencode(query)}" if query else "")


def _query_value(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _headers(settings: Settings, operation: Operation, call: Call) -> httpx.Headers:
    headers = httpx.Headers({"accept": "application/json"})
    if settings.api_key is not None:
        headers["x-api-key"] = settings.api_key
    if operation.content_type is not None and call.body is not None:
        headers["content-type"] = operation.content_type
    if operation.method == "POST":
        headers["idempotency-key"] = call.idempotency_key or str(uuid.uuid4())
    headers.update(call.headers)
    return headers


def _is_repeatable(call: Call, operation: Operation, headers: httpx.Headers) -> bool:
    """Whether sending a request twice does no more than sending it once."""
    if operation.idempotent or call.operation in HARMLESS or operation.method == "GET":
        return True
    return operation.method == "PUT" and "if-match" not in headers


def error_of(reply: Reply) -> NodeloomError:
    """The error of a response that isn't a success."""
    if reply.status == 0:
        return unreachable(reply.cause, without_query(reply.url))
    body = reply.body
    details = dict(body) if isinstance(body, dict) else {}
    message, code = details.pop("error", None), details.pop("code", None)
    return NodeloomError(
        message if isinstance(message, str) else f"the service answered {reply.status}",
        status=reply.status,
        code=code if isinstance(code, str) else None,
        details=details,
        request_id=reply.headers.get("x-request-id"),
    )


def _retry_after(headers: httpx.Headers) -> float | None:
    """The seconds of a Retry-After header, which is a number or a date."""
    text = headers.get("retry-after")
    if text is None:
        return None
    try:
        return max(0.0, float(text))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except ValueError:
        return None


def _back_off(attempt: int) -> float:
    ceiling = min(FIRST_BACK_OFF * 2.0**attempt, MAX_BACK_OFF)
    return ceiling / 2 + random.random() * ceiling / 2


def _refuses_to_wait(headers: httpx.Headers) -> bool:
    return any(part.strip().lower() == "no-queue" for part in headers.get("prefer", "").replace(";", ",").split(","))


def exchange(settings: Settings, pacing: Pacing, call: Call, *, streamed: bool = False) -> Steps[Reply]:
    """Sends a request and retries it if the service asks for it and a retry is safe.

    Raises:
        NodeloomError: the refusal, or NETWORK_ERROR.
    """
    operation = OPERATIONS[call.operation]
    headers = _headers(settings, operation, call)
    content = call.body if call.body is None or isinstance(call.body, bytes) else json.dumps(call.body).encode()
    request = Send(operation.method, _url(settings.base_url, operation, call), headers, content, streamed)
    # Polls are limited per execution, everything else per route.
    is_poll = operation.path.startswith("/api/executions/{id}")
    bucket = f"{call.operation} {call.params.get('id', '')}" if is_poll else call.operation
    repeatable = _is_repeatable(call, operation, headers)
    started = time.monotonic()
    place_timeout = 0.0 if _refuses_to_wait(headers) else settings.place_timeout
    retries = attempts = 0
    while True:
        pause = pacing.pause(bucket)
        if pause is not None:
            yield Pause(pause)
        sent_at = time.monotonic()
        reply = yield request
        assert reply is not None
        attempts += 1
        pacing.learn(bucket, reply.headers)
        error = None if 200 <= reply.status < 300 else error_of(reply)
        sent = SentRequest(
            operation=call.operation,
            method=request.method,
            url=without_query(request.url),
            status=reply.status,
            code=None if error is None else error.code,
            request_id=reply.headers.get("x-request-id"),
            ms=(time.monotonic() - sent_at) * 1_000,
        )
        if settings.on_response is not None:
            settings.on_response(sent)
        if error is None:
            return reply
        waited = time.monotonic() - started
        asked = _retry_after(reply.headers)
        wait = _back_off(retries) if asked is None else asked
        if error.status == 409 and error.code == "IDEMPOTENCY_IN_PROGRESS" and waited < IN_PROGRESS_SECONDS:
            wait = 1.0 if asked is None else asked
        elif error.status == 429 and error.code == "CONCURRENCY_LIMIT_EXCEEDED":
            wait = min(wait, MAX_PLACE_PAUSE)
            if waited + wait > place_timeout:
                raise error
        else:
            # A 429 was refused before anything was done; after a 503, or no answer, the outcome is unknown.
            may_repeat = error.status == 429 or (error.status in (0, 503) and repeatable)
            if not may_repeat or retries >= settings.max_retries or wait > settings.max_pause:
                raise error
            retries += 1
        if settings.on_retry is not None:
            settings.on_retry(Retry(**vars(sent), attempt=attempts, pause_seconds=wait))
        yield Pause(wait)
