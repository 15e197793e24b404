"""What fal's library for Python makes of the platform, as one JSON object: the examples of its README. Unchanged but for its hosts and key."""

import asyncio
import json
import os
import sys

import fal_client

(picture,) = sys.argv[1:]
MODEL = "nodeloom/sandbox-image-fast"
PROMPT = {"prompt": "a cute cat, realistic, orange"}
said: dict[str, object] = {}

said["run"] = fal_client.run(MODEL, arguments=PROMPT)["images"][0]["url"]


async def asynchronous() -> None:
    said["runAsync"] = (await fal_client.run_async(MODEL, arguments=PROMPT))["images"][0]["url"]
    handle = await fal_client.submit_async(MODEL, arguments=PROMPT)
    logs_index, states, lines = 0, [], []
    async for event in handle.iter_events(with_logs=True):
        states.append(type(event).__name__)
        if isinstance(event, (fal_client.InProgress, fal_client.Completed)):
            lines += [log["message"] for log in (event.logs or [])[logs_index:]]
            logs_index = len(event.logs or [])
    said["states"], said["logs"] = states, lines
    said["queued"] = (await handle.get())["images"][0]["url"]


asyncio.run(asynchronous())

encoded = fal_client.encode_file(picture)
said["file"] = fal_client.subscribe("nodeloom/sandbox-image", arguments={**PROMPT, "image": encoded})["images"][0]["url"]

fal_client.client.REST_URL = f"{os.environ['NODELOOM_BASE_URL']}/fal/rest"
uploaded = fal_client.upload_file(picture, repository="fal")
said["uploaded"] = fal_client.subscribe("nodeloom/sandbox-image", arguments={**PROMPT, "image": uploaded})["images"][0]["url"]

slow = fal_client.submit(MODEL, arguments={**PROMPT, "sandbox": {"latencyMs": 60_000}})
slow.cancel()
try:
    slow.get()
except fal_client.FalClientHTTPError as error:
    said["cancelled"] = [error.status_code, error.error_type]

try:
    fal_client.submit(MODEL, arguments={"nonsense": 1})
except fal_client.FalClientHTTPError as error:
    said["invalid"] = [error.status_code, error.error_type]

print(json.dumps(said))
