"""The cases that the clients of every language have in common."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from conftest import Scripted, Services

from nodeloom import AsyncNodeloom, CompletedRun, Nodeloom, NodeloomError

CASES: list[dict[str, Any]] = json.loads((Path(__file__).parents[2] / "test" / "client" / "cases.json").read_text())["cases"]


def options(service: Scripted, case: Mapping[str, Any]) -> dict[str, Any]:
    return {"api_key": "nl_test", "base_url": service.base_url, "max_retries": case.get("maxRetries", 5)}


def arguments(call: Mapping[str, Any]) -> dict[str, Any]:
    names = {"workflow": "workflow", "model": "model", "inputs": "inputs", "maxCredits": "max_credits", "until": "until"}
    names.update({"alias": "alias", "version": "version"})
    given = {names[name]: value for name, value in call.items() if name in names}
    return {**given, "poll_seconds": 0.01} if call["method"] == "run" else given


def synchronously(service: Scripted, case: Mapping[str, Any]) -> Any:
    call = case["call"]
    with Nodeloom(**options(service, case)) as client:
        if call["method"] == "whoami":
            return client.whoami()
        if call["method"] == "setAlias":
            return client.workflows.set_alias(call["workflow"], call["alias"], call["version"])
        if call["method"] in ("get", "delete"):
            return getattr(client.workflows, call["method"])(call["workflow"])
        return getattr(client, call["method"])(**arguments(call))


def asynchronously(service: Scripted, case: Mapping[str, Any]) -> Any:
    async def run() -> Any:
        call = case["call"]
        async with AsyncNodeloom(**options(service, case)) as client:
            if call["method"] == "whoami":
                return await client.whoami()
            if call["method"] == "setAlias":
                return await client.workflows.set_alias(call["workflow"], call["alias"], call["version"])
            if call["method"] in ("get", "delete"):
                return await getattr(client.workflows, call["method"])(call["workflow"])
            return await getattr(client, call["method"])(**arguments(call))

    return asyncio.run(run())


def shown(result: Any) -> Any:
    if not isinstance(result, CompletedRun):
        return result
    return {"result": result.result, "cost": result.cost, "ms": result.ms, "executionId": result.execution_id}


@pytest.mark.parametrize("perform", [synchronously, asynchronously])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_case(services: Services, case: dict[str, Any], perform: Any) -> None:
    service = services.start(*case["script"])
    if "error" in case:
        with pytest.raises(NodeloomError) as raised:
            perform(service, case)
        error = raised.value
        assert (error.status, error.code) == (case["error"]["status"], case["error"]["code"])
        # A missing answer is reported with its address and reason.
        assert error.message.startswith(case["error"]["message"])
    else:
        assert shown(perform(service, case)) == case.get("result")
    sent = case.get("sent", [])
    assert len(service.received) == case.get("sentCount", len(sent))
    for expected, request in zip(sent, service.received, strict=False):
        assert (request["method"], request["path"]) == (expected["method"], expected["path"])
        if "json" in expected:
            assert json.loads(request["body"]) == expected["json"]
    if case.get("oneKey"):
        assert len({request["headers"]["idempotency-key"] for request in service.received}) == 1
