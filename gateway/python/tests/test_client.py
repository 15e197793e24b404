"""What is particular to Python: events, files, pacing, webhooks, and how the client is made."""

from __future__ import annotations

import asyncio
import base64
import json
import time
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import httpx
import pytest
from conftest import Services
from standardwebhooks.webhooks import Webhook

from nodeloom import (
    AsyncNodeloom,
    Event,
    Nodeloom,
    NodeloomError,
    Retry,
    SentRequest,
    WebhookVerificationError,
    verify_webhook,
)

AT = "2026-06-01T00:00:00.000Z"
USER = {"user": {"id": "u", "email": "a@example.com"}}


def event(number: int, kind: str, data: dict[str, Any] | None = None) -> str:
    return f"id: {number}\nevent: {kind}\ndata: {json.dumps({'type': kind, 'at': AT, 'data': data or {}})}\n\n"


def stream(text: str, cut: bool = False) -> dict[str, Any]:
    return {"status": 200, "headers": {"content-type": "text/event-stream; charset=utf-8"}, "text": f"retry: 1000\n\n{text}", "cut": cut}


BROKEN = [
    stream(event(1, "admitted")),
    stream(event(2, "node.started") + event(3, "node.completed")[:40], cut=True),
    "drop",
    stream(event(3, "node.completed") + event(4, "settled") + event(5, "never")),
]


def test_events_resume_after_the_last_one_seen_when_connections_break(services: Services) -> None:
    service = services.start(*BROKEN)
    with Nodeloom("nl_test", base_url=service.base_url) as client:
        assert [(one.id, one.type) for one in client.events("e")] == [
            (1, "admitted"),
            (2, "node.started"),
            (3, "node.completed"),
            (4, "settled"),
        ]
    assert [request["headers"].get("last-event-id") for request in service.received] == [None, "1", "2", "2"]


def test_asynchronous_events_resume_too(services: Services) -> None:
    service = services.start(*BROKEN)

    async def follow() -> list[Event]:
        async with AsyncNodeloom("nl_test", base_url=service.base_url) as client:
            return [one async for one in client.events("e", after=0)]

    assert [one.id for one in asyncio.run(follow())] == [1, 2, 3, 4]


def delta(text: str, reset: bool = False, node: str = "model") -> str:
    return f"data: {json.dumps({'type': 'node.delta', 'at': AT, 'data': {'nodeId': node, 'text': text, 'reset': reset}})}\n\n"


ACCEPTED = {"status": 202, "json": {"_async": True, "executionId": "e", "status": "processing", "requestId": None}}
WRITTEN = [
    ACCEPTED,
    stream(delta("On", reset=True) + delta("No", node="title") + delta("ce ") + delta("Once upon", reset=True) + event(9, "settled")),
    {
        "status": 200,
        "json": {"executionId": "e", "status": "completed", "result": {"text": "Once upon a time"}, "creditsCost": 2, "durationMs": 5},
    },
]


def test_a_text_is_streamed_as_it_is_written_without_repeats_then_the_rest(services: Services) -> None:
    service = services.start(*WRITTEN)
    with Nodeloom("nl_test", base_url=service.base_url) as client:
        text = client.stream(model="sandbox-chat", inputs={"prompt": "x"}, max_credits=3, prefer="no-queue")
        with pytest.raises(RuntimeError):
            _ = text.run
        assert list(text) == ["On", "ce ", "upon", " a time"]
        assert (text.run.cost, text.run.execution_id) == (2, "e")
    first = service.received[0]
    assert (first["path"], first["headers"]["prefer"]) == ("/api/models/sandbox-chat/run", "no-queue, respond-async")
    assert json.loads(first["body"]) == {"inputs": {"prompt": "x"}, "maxCredits": 3}


def test_a_text_is_streamed_asynchronously(services: Services) -> None:
    service = services.start(*WRITTEN)

    async def read() -> list[str]:
        async with AsyncNodeloom("nl_test", base_url=service.base_url) as client:
            return [piece async for piece in client.stream(model="sandbox-chat", inputs={"prompt": "x"})]

    assert asyncio.run(read()) == ["On", "ce ", "upon", " a time"]


def test_a_run_carries_its_metadata_provenance_and_preferences_also_when_it_is_submitted_or_run_again(services: Services) -> None:
    done = {"status": 200, "json": {"success": True, "result": {"text": "x"}, "cost": 0, "ms": 1}, "headers": {"x-execution-id": "f"}}
    service = services.start(ACCEPTED, done, {"status": 200, "json": {"reused": {"calls": 1}}})
    sent = {"metadata": {"customer": "acme"}, "provenance": "full", "maxCredits": 2}
    with Nodeloom("nl_test", base_url=service.base_url) as client:
        client.submit("x", metadata={"customer": "acme"}, provenance="full", prefer="no-queue", max_credits=2)
        again = client.rerun("e", nodes=["n"], metadata={"customer": "acme"}, provenance="full", prefer="no-queue", max_credits=2)
        client.quote_rerun("e", nodes=["n"], version="draft")
    assert again.execution_id == "f"
    assert [(one["path"], one["headers"].get("prefer"), json.loads(one["body"])) for one in service.received] == [
        ("/api/workflows/x/run", "no-queue, respond-async", {"inputs": {}, **sent}),
        ("/api/executions/e/rerun", "no-queue", {"nodes": ["n"], **sent}),
        ("/api/executions/e/rerun/quote", None, {"nodes": ["n"], "version": "draft"}),
    ]


def test_an_unknown_option_of_a_run_is_rejected() -> None:
    with Nodeloom("nl_test") as client, pytest.raises(TypeError, match="there is no option max_credit"):
        client.run("x", {}, max_credit=1)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]


def test_retries_and_responses_are_reported_without_the_query(services: Services) -> None:
    service = services.start(
        {"status": 503, "json": {"error": "busy", "code": "SERVICE_UNAVAILABLE"}}, {"status": 200, "json": {"rows": []}}
    )
    seen: list[Any] = []

    def on_retry(retry: Retry) -> None:
        seen.append((retry.operation, retry.status, retry.attempt, retry.pause_seconds > 0))

    def on_response(sent: SentRequest) -> None:
        seen.append((sent.url, sent.status, sent.code))

    with Nodeloom("nl_test", base_url=service.base_url, on_retry=on_retry, on_response=on_response) as client:
        client.usage.list(limit=1)
    url = f"{service.base_url}/api/usage"
    assert seen == [(url, 503, "SERVICE_UNAVAILABLE"), ("listUsage", 503, 1, True), (url, 200, None)]


def test_a_service_that_cannot_be_reached_is_named_with_the_cause() -> None:
    with Nodeloom("nl_test", base_url="http://127.0.0.1:9", max_retries=0) as client, pytest.raises(NodeloomError) as raised:
        client.usage.list(limit=1)
    error = raised.value
    assert (error.code, error.details) == ("NETWORK_ERROR", {"url": "http://127.0.0.1:9/api/usage"})
    assert "http://127.0.0.1:9/api/usage (" in error.message
    assert isinstance(error.__cause__, httpx.ConnectError)


def test_a_redirect_takes_the_key_nowhere_even_where_the_http_client_follows_redirects(services: Services) -> None:
    elsewhere = services.start({"status": 200, "json": USER})
    service = services.start({"status": 302, "headers": {"location": elsewhere.base_url}})
    http_client = httpx.Client(follow_redirects=True)
    with Nodeloom("nl_test", base_url=service.base_url, http_client=http_client) as client, pytest.raises(NodeloomError):
        client.whoami()
    assert elsewhere.received == []


def test_events_end_at_once_when_there_is_nothing_more(services: Services) -> None:
    service = services.start({"status": 204})
    with Nodeloom("nl_test", base_url=service.base_url) as client:
        assert list(client.events("e", after=7)) == []
    assert service.received[0]["headers"]["last-event-id"] == "7"


def test_a_nearly_empty_bucket_is_left_alone_until_its_window_ends(services: Services) -> None:
    reset = int(time.time()) + 2
    low = {"status": 200, "headers": {"x-ratelimit-remaining": "4", "x-ratelimit-reset": str(reset)}, "json": USER}
    service = services.start(low, {"status": 200, "json": USER})
    with Nodeloom("nl_test", base_url=service.base_url) as client:
        client.whoami()
        client.models.list()
        assert time.time() < reset
        client.whoami()
    assert time.time() >= reset - 1


def test_an_upload_sends_the_bytes_of_a_file(services: Services, tmp_path: Path) -> None:
    service = services.start({"status": 201, "json": {"id": "m"}})
    path = tmp_path / "boat.png"
    path.write_bytes(b"hi")
    with Nodeloom("nl_test", base_url=service.base_url) as client:
        assert client.upload(path)["id"] == client.upload(b"hi")["id"] == "m"
    assert [request["body"] for request in service.received] == [b"hi", b"hi"]
    assert service.received[0]["headers"]["content-type"] == "application/octet-stream"


def test_a_download_that_breaks_off_leaves_nothing_behind(services: Services, tmp_path: Path) -> None:
    whole = {"status": 200, "headers": {"content-type": "video/mp4"}, "text": "film"}
    service = services.start({**whole, "cut": True}, whole, {"status": 404})
    with Nodeloom("nl_test", base_url=service.base_url) as client:
        address = {"url": f"{service.base_url}/media/film"}
        with pytest.raises(NodeloomError):
            client.download(address, tmp_path / "film.mp4")
        assert list(tmp_path.iterdir()) == []
        assert client.download(address, tmp_path / "film.mp4").read_bytes() == b"film"
        with pytest.raises(NodeloomError, match="404"):
            client.download(address, tmp_path / "none.mp4")
    # Files are public, and may lie elsewhere: the key is not sent along.
    assert all("x-api-key" not in request["headers"] for request in service.received)


def test_either_a_workflow_or_a_model_is_run() -> None:
    with Nodeloom("nl_test") as client, pytest.raises(TypeError, match="either a workflow or a model"):
        client.run("x", {}, model="y")


def test_key_and_address_come_from_the_environment(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    service = services.start({"status": 200, "json": USER})
    monkeypatch.setenv("NODELOOM_BASE_URL", f"{service.base_url}/")
    monkeypatch.setenv("NODELOOM_API_KEY", "nl_env")
    with Nodeloom() as client:
        assert client.whoami()["id"] == "u"
    assert (service.received[0]["path"], service.received[0]["headers"]["x-api-key"]) == ("/api/whoami", "nl_env")


SECRET = f"whsec_{base64.b64encode(bytes([7] * 32)).decode()}"
BODY = '{"type":"webhook.test","timestamp":"2026-06-01T00:00:00.000Z","data":{"keyId":"k"}}'


def signed(at: float) -> dict[str, str]:
    signature = Webhook(SECRET).sign("msg_1", datetime.fromtimestamp(at, tz=timezone.utc), BODY)
    return {"Webhook-Id": "msg_1", "Webhook-Timestamp": str(int(at)), "Webhook-Signature": signature}


def test_a_webhook_is_verified_from_bytes_and_text() -> None:
    headers = signed(time.time())
    assert verify_webhook(BODY, headers, SECRET)["type"] == "webhook.test"
    assert verify_webhook(BODY.encode(), headers, SECRET)["data"] == {"keyId": "k"}


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (BODY.replace('"k"', '"l"'), signed(time.time())),
        (BODY, signed(time.time() - 3_600)),
        (BODY, {"webhook-id": "msg_1"}),
    ],
    ids=["a changed body", "an old message", "no signature"],
)
def test_a_webhook_is_refused_for(body: str, headers: dict[str, str]) -> None:
    with pytest.raises(WebhookVerificationError):
        verify_webhook(body, headers, SECRET)


@pytest.mark.parametrize(
    ("body", "headers", "secret", "message"),
    [
        (json.loads(BODY), signed(time.time()), SECRET, "body was parsed"),
        (json.dumps(json.loads(BODY), indent=1), signed(time.time()), SECRET, "must be the raw one"),
        (BODY, signed(time.time()), None, "there is no secret"),
        (BODY, signed(time.time()), "nl_live_0123456789", "begins with whsec_"),
        (BODY, signed(time.time()), f"whsec_{base64.b64encode(bytes([9] * 32)).decode()}", "secret that of this webhook"),
        (BODY, signed(time.time() - 3_600), SECRET, r"signed \d+ s ago, and 300 s are tolerated"),
        (BODY, signed(time.time() + 3_600), SECRET, "ahead of this clock"),
        (BODY, {}, SECRET, "no webhook-id, webhook-timestamp, webhook-signature header"),
    ],
    ids=["a parsed body", "a serialized body", "no secret", "an API key", "another secret", "an old message", "a slow clock", "no headers"],
)
def test_a_refused_webhook_says_what_to_check_for(body: Any, headers: dict[str, str], secret: Any, message: str) -> None:
    with pytest.raises(WebhookVerificationError, match=message):
        verify_webhook(body, headers, secret)


def test_the_synchronous_client_is_the_asynchronous_one() -> None:
    import make_sync

    for source, target in make_sync.FILES.items():
        assert make_sync.synchronous((make_sync.FOLDER / source).read_text()) == (make_sync.FOLDER / target).read_text()
