"""Calls every method of the client against a running platform; each answer must have the members that its type requires."""

from __future__ import annotations

import inspect
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from nodeloom import Nodeloom, NodeloomError, _types

WEBHOOK = os.environ["WEBHOOK_URL"]
FOLDER = Path(os.environ["FOLDER"])
TEST = {"name": "greets", "inputs": {"prompt": "Ada"}, "expect": [{"path": "text", "equals": "Hello Ada"}], "maxCredits": 1}
GREETING: Any = {
    "name": "Greeting",
    "publicPlayground": True,
    "tests": [TEST],
    "nodes": [
        {"id": "in", "type": "request-input", "data": {"fields": [{"name": "prompt", "type": "text", "default": "a loom"}]}},
        {"id": "box", "type": "text-box", "data": {"text": "Hello {{who}}"}},
        {"id": "review", "type": "approval", "data": {"title": "Good?"}},
        {"id": "out", "type": "response-output", "data": {}},
    ],
    "edges": [
        {"source": "in", "sourceHandle": "prompt", "target": "box", "targetHandle": "who"},
        {"source": "box", "sourceHandle": "text", "target": "out", "targetHandle": "text"},
    ],
}
REVIEWED: Any = {
    **GREETING,
    "name": "Reviewed",
    "edges": [
        GREETING["edges"][0],
        {"source": "box", "sourceHandle": "text", "target": "review", "targetHandle": "value"},
        {"source": "review", "sourceHandle": "approved", "target": "out", "targetHandle": "text"},
    ],
}
GREETING["nodes"] = [node for node in GREETING["nodes"] if node["id"] != "review"]

called: set[str] = set()


def typed(value: Any, name: str) -> Any:
    """The value, if it has all members that the typed dictionary of this name requires."""
    hints = getattr(_types, name).__annotations__
    missing = [member for member, hint in hints.items() if "NotRequired" not in hint.__forward_arg__ and member not in value]
    assert not missing, f"{name} lacks {missing}: {value}"
    return value


def watched(owner: Any, prefix: str) -> list[str]:
    """Notes the calls of an object's public methods. Gives the names of all."""
    names = [name for name, member in inspect.getmembers(owner, inspect.ismethod) if not name.startswith("_")]
    for name in names:
        setattr(owner, name, noting(f"{prefix}{name}", getattr(owner, name)))
    return [f"{prefix}{name}" for name in names]


def noting(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    def call(*given: Any, **named: Any) -> Any:
        called.add(name)
        return method(*given, **named)

    return call


def refused(call: Callable[[], Any], code: str | None = None) -> None:
    try:
        call()
    except NodeloomError as error:
        assert code in (None, error.code), error
        return
    raise AssertionError("it was not refused")


def eventually(probe: Callable[[], Any], seconds: float = 60.0) -> Any:
    """The first value of a probe that is true."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = probe()
        if value:
            return value
        time.sleep(0.2)
    raise AssertionError("it didn't happen in time")


def runs(client: Nodeloom, slug: str) -> None:
    submitted = client.submit(model="sandbox-chat", inputs={"prompt": "a loom"})
    assert "text" in typed(client.wait(submitted["executionId"]), "Execution")["result"]
    text = client.stream(model="sandbox-chat", inputs={"prompt": "a loom"}, metadata={"customer": "acme"}, prefer="no-queue")
    assert "".join(text) == text.run.result["text"]
    assert client.executions.get(text.run.execution_id)["metadata"] == {"customer": "acme"}
    assert [event.type for event in client.events(submitted["executionId"])][-1] == "settled"
    assert typed(client.quote(slug, {"prompt": "Ada"}), "Quote")["exact"]
    run = client.run(slug, {"prompt": "Ada"})
    typed(client.quote_rerun(run.execution_id), "RerunQuote")
    assert client.rerun(run.execution_id, inputs={"prompt": "Bea"}).result == {"text": "Hello Bea"}
    assert len(client.executions.list(limit=2)["rows"]) == 2
    client.executions.delete(run.execution_id)
    refused(lambda: client.executions.get(run.execution_id), "EXECUTION_NOT_FOUND")
    assert client.cancel(submitted["executionId"]) == "already_completed"


def decisions(client: Nodeloom) -> None:
    slug = client.workflows.create(REVIEWED)["slug"]
    run_id = client.submit(slug)["executionId"]
    eventually(lambda: client.executions.get(run_id).get("waitingFor"))
    typed(client.decide(run_id, "review", "approve", comment="yes"), "Decision")
    client.wait(run_id)
    assert typed(client.erasures.create(workflow=slug, dryRun=True), "CreatedErasure")["matched"] == 1
    erasure = client.erasures.create(executions=[run_id])
    typed(client.erasures.get(str(erasure["erasureId"])), "Erasure")
    assert client.erasures.list(limit=5)["rows"][0]["erasureId"] == erasure["erasureId"]


def workflows(client: Nodeloom, slug: str) -> None:
    other = typed(client.workflows.create(GREETING), "Workflow")["slug"]
    assert client.workflows.update(other, {"description": "Says hello"})["description"] == "Says hello"
    client.workflows.move(other, None)
    client.workflows.delete(other)
    assert slug in [typed(one, "WorkflowSummary")["slug"] for one in client.workflows.list()]
    typed(client.workflows.get(slug), "Workflow")
    typed(client.workflows.schema(slug), "InputSchema")
    typed(client.workflows.public_schema(slug), "PublicSchema")
    version = typed(client.workflows.publish(slug, "first"), "WorkflowVersionHead")["version"]
    typed(client.workflows.set_alias(slug, "staging", int(version)), "WorkflowAlias")
    assert "staging" in [one["name"] for one in client.workflows.aliases(slug)]
    assert client.run(slug, {"prompt": "Ada"}, alias="staging").result == {"text": "Hello Ada"}
    client.workflows.delete_alias(slug, "staging")
    assert [one["version"] for one in client.versions.list(slug)["rows"]] == [version]
    typed(client.versions.get(slug, int(version)), "WorkflowVersion")
    typed(client.versions.restore(slug, int(version)), "Workflow")
    batch_id = typed(client.tests.run(slug, {"version": int(version)}), "StartedTests")["batchId"]
    assert typed(client.tests.wait(slug, batch_id, poll_seconds=0.2), "TestRunWithResults")["status"] == "passed"
    assert len(client.tests.list(slug)["rows"]) == 1
    typed(client.tests.get(slug, batch_id), "TestRunWithResults")
    assert "<testsuite" in client.tests.junit(slug, batch_id)
    plan = client.bundles.import_(client.bundles.export([slug]), dry_run=True)
    assert typed(plan, "BundleImport")["workflows"][0]["slug"] == slug


def many(client: Nodeloom, slug: str) -> None:
    inputs = [{"prompt": "Ada"}, {"prompt": "Bea"}]
    assert typed(client.batches.quote(slug, inputs), "BatchQuote")["estimatedCreditCost"] == 0
    batch_id = typed(client.batches.create(slug, inputs), "CreatedBatch")["batchId"]
    assert client.batches.wait(batch_id, poll_seconds=0.2)["status"] == "completed"
    assert [row["result"] for row in client.batches.results(batch_id)] == [{"text": "Hello Ada"}, {"text": "Hello Bea"}]
    typed(client.batches.get(batch_id, limit=1), "BatchWithRows")
    assert batch_id in [one["batchId"] for one in client.batches.list()["rows"]]
    refused(lambda: client.batches.resume(batch_id, max_credits=10), "PRECONDITION_FAILED")
    refused(lambda: client.batches.rerun(batch_id))
    typed(client.batches.cancel(batch_id), "Batch")
    schedule = typed(client.schedules.create(slug, {"cron": "@yearly", "inputs": {"prompt": "Ada"}}), "Schedule")
    assert client.schedules.update(slug, schedule["id"], {"paused": True})["paused"]
    typed(client.schedules.get(slug, schedule["id"]), "ScheduleWithRuns")
    assert len(client.schedules.list(slug)) == 1
    client.schedules.delete(slug, schedule["id"])
    hook = typed(client.hooks.create(slug, {"expression": "{ prompt: title }", "maxCredits": 1}), "IssuedHook")
    assert [typed(one, "Hook")["id"] for one in client.hooks.list(slug)] == [hook["id"]]
    client.hooks.delete(slug, hook["id"])


def files(client: Nodeloom, slug: str) -> None:
    picture = client.run(model="sandbox-image", inputs={"prompt": "a loom"}).result["images"][0]
    saved = client.download(picture, FOLDER / "loom.png")
    media_id = typed(client.upload(saved), "Media")["id"]
    rows = typed(client.media.list(), "MediaPage")["rows"]
    assert typed(client.media.get(media_id), "MediaFile")["origin"] == "upload"
    made = next(row for row in rows if row["origin"] == "generated")
    assert typed(client.media.keep(made["id"]), "MediaFile")["kept"]
    client.media.delete(media_id)
    typed(client.verify(saved), "FileVerification")
    endpoint = typed(client.webhook_endpoints.create({"url": WEBHOOK, "events": ["execution.completed"]}), "WebhookEndpointWithSecret")
    assert client.webhook_endpoints.rotate(endpoint["id"])["secret"] != endpoint["secret"]
    client.wait(client.submit(slug)["executionId"])
    endpoints = client.webhook_endpoints
    delivered = lambda: [row for row in endpoints.deliveries(endpoint["id"])["rows"] if row["state"] == "delivered"]  # noqa: E731
    typed(endpoints.redeliver(endpoint["id"], eventually(delivered)[0]["id"]), "EndpointDelivery")
    assert client.webhook_endpoints.update(endpoint["id"], {"disabled": True})["disabledAt"]
    assert len(client.webhook_endpoints.list()) == 1
    client.webhook_endpoints.delete(endpoint["id"])
    assert "sandbox-chat" in [one["internalName"] for one in client.models.list()]
    typed(client.models.get("sandbox-chat"), "Model")
    assert "groups" in typed(client.usage.summary(groupBy="workflow"), "UsageSummary")
    typed(client.usage.list(limit=1), "UsagePage")
    assert "sandbox-chat" in client.usage.models()
    typed(client.whoami(), "User")
    assert client.request("listFolders").body == []


def main() -> None:
    with Nodeloom() as client:
        groups: Mapping[str, Any] = {name: member for name, member in vars(client).items() if not name.startswith("_")}
        names = [*watched(client, ""), *(one for name, group in groups.items() for one in watched(group, f"{name}."))]
        slug = client.workflows.create(GREETING)["slug"]
        runs(client, slug)
        decisions(client)
        workflows(client, slug)
        many(client, slug)
        files(client, slug)
        left_out = sorted({*names} - called - {"close"})
        assert not left_out, f"no call of {left_out}"
    print(f"{len(names)} methods")


main()
