"""The official SDK for Python: runs a workflow that gives a large picture, with progress, and reads the run. Prints what it saw as JSON."""

import asyncio
import json
import sys

import httpx2
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

url, key, workflow, picture = sys.argv[1:]


async def main() -> None:
    said: dict[str, object] = {}
    steps: list[float] = []

    async def progress(step: float, _total: float | None, _message: str | None) -> None:
        steps.append(step)

    async with (
        httpx2.AsyncClient(headers={"authorization": f"Bearer {key}"}, timeout=120) as client,
        streamable_http_client(url, http_client=client) as streams,
        ClientSession(streams[0], streams[1]) as session,
    ):
        await session.initialize()
        said["tools"] = [tool.name for tool in (await session.list_tools()).tools]
        call = {"workflow": workflow, "inputs": {"photo": picture}, "maxCredits": 100}
        made = await session.call_tool("run", call)
        said["made"] = [content.type for content in made.content]
        execution = (made.structured_content or {})["executionId"]
        read = await session.call_tool("get_execution", {"executionId": execution})
        said["read"] = [content.type for content in read.content]
        await session.call_tool("run", {"model": "sandbox-image", "inputs": {"prompt": "a boat"}, "maxCredits": 100}, progress_callback=progress)
        said["steps"] = len(steps)
    print(json.dumps(said))


asyncio.run(main())
