"""What Replicate's library for Python makes of the platform, as one JSON object: the examples of its README. Unchanged but for its base URL."""

import asyncio
import json
import sys

import replicate
from replicate.exceptions import ModelError, ReplicateError

(picture,) = sys.argv[1:]
MODEL = "nodeloom/sandbox-image-fast"
PROMPT = {"prompt": "astronaut riding a rocket like a horse"}
said: dict[str, object] = {}

said["run"] = [str(output) for output in replicate.run(MODEL, input=PROMPT)]


async def asynchronous() -> None:
    runs = [replicate.async_run(MODEL, input={"prompt": f"{count} unicorns"}) for count in ("two", "four")]
    said["asynchronous"] = [len(outputs) for outputs in await asyncio.gather(*runs)]


asyncio.run(asynchronous())

with open(picture, "rb") as file:
    said["file"] = [str(output) for output in replicate.run("nodeloom/sandbox-image", input={**PROMPT, "image": file})]

said["streamed"] = [str(event) for event in replicate.stream("nodeloom/sandbox-chat", input={"prompt": "A haiku about llamas, please."})]

version = replicate.models.get(MODEL).versions.get("sandbox-image-fast")
prediction = replicate.predictions.create(version=version, input=PROMPT)
said["created"] = prediction.status
prediction.wait()
said["ended"] = [prediction.status, prediction.error, len(prediction.output)]

slow = replicate.predictions.create(version=version, input={**PROMPT, "sandbox": {"latencyMs": 60_000}})
slow.cancel()
slow.wait()
slow.reload()
said["cancelled"] = slow.status

said["listed"] = {prediction.id, slow.id} <= {each.id for page in replicate.paginate(replicate.predictions.list) for each in page.results}
said["models"] = any(f"{model.owner}/{model.name}" == MODEL for model in replicate.models.list())

try:
    replicate.run(MODEL, input={**PROMPT, "sandbox": {"fail": "job"}})
except ModelError as error:
    said["failed"] = error.prediction.status

try:
    replicate.run(MODEL, input={"nonsense": 1})
except ReplicateError as error:
    said["invalid"] = [error.status, error.title]

print(json.dumps(said))
