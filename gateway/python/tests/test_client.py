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

from nodeloom import AsyncNodeloom, Event, Nodeloom, NodeloomError, WebhookVerificationError, verify_webhook

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
        (BODY, signed(time.time()), "nl_live_0123456789", "begins with whsec_"),
        (BODY, signed(time.time()), f"whsec_{base64.b64encode(bytes([9] * 32)).decode()}", "secret that of this webhook"),
        (BODY, signed(time.time() - 3_600), SECRET, r"signed \d+ s ago, and 300 s are tolerated"),
        (BODY, signed(time.time() + 3_600), SECRET, "ahead of this clock"),
        (BODY, {}, SECRET, "no webhook-id, webhook-timestamp, webhook-signature header"),
    ],
    ids=["a parsed body", "a serialized body", "an API key", "another secret", "an old message", "a slow clock", "no headers"],
)
def test_a_refused_webhook_says_what_to_check_for(body: Any, headers: dict[str, str], secret: str, message: str) -> None:
    with pytest.raises(WebhookVerificationError, match=message):
        verify_webhook(body, headers, secret)


def test_the_synchronous_client_is_the_asynchronous_one() -> None:
    import make_sync

    assert make_sync.synchronous((make_sync.FOLDER / "_async_client.py").read_text()) == (make_sync.FOLDER / "_client.py").read_text()
