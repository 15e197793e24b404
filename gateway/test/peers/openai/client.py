"""What the OpenAI library for Python makes of the platform, as one JSON object. Unchanged but for its base URL and key."""

import base64
import io
import json
import sys
import urllib.request

from openai import APIStatusError, OpenAI

picture, sound = sys.argv[1:]
client = OpenAI()
said: dict[str, object] = {}

said["models"] = [model.id for model in client.models.list()]

image = client.images.generate(model="sandbox-image", prompt="a lighthouse", n=2, response_format="b64_json")
# Proxies may leave the format out: then there are addresses.
said["images"] = [
    (base64.b64decode(each.b64_json) if each.b64_json else urllib.request.urlopen(each.url or "").read())[:4].hex()
    for each in image.data or []
]

with open(picture, "rb") as file:
    edited = client.images.edit(model="sandbox-image", image=file, prompt="at night")
said["edited"] = [each.url for each in edited.data or []]

with client.audio.speech.with_streaming_response.create(model="sandbox-speech", voice="alloy", input="Good evening.") as response:
    heard = io.BytesIO(response.read())
said["speech"] = heard.getvalue()[:4].decode("latin-1")

with open(sound, "rb") as file:
    said["transcript"] = client.audio.transcriptions.create(model="peer-transcribe", file=file).text

messages = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Three words for the sky?"},
    {"role": "assistant", "content": "Blue, wide, far."},
    {"role": "user", "content": "Three words for the sea?"},
]
completion = client.chat.completions.create(model="sandbox-chat", messages=messages)  # type: ignore[arg-type]
said["answer"] = completion.choices[0].message.content
said["usage"] = completion.usage.model_dump() if completion.usage else None

streaming = {"stream": True, "stream_options": {"include_usage": True}}
pieces = list(client.chat.completions.create(model="sandbox-chat", messages=messages, **streaming))  # type: ignore[arg-type]
said["pieces"] = [piece.choices[0].delta.content or "" for piece in pieces if piece.choices]
said["streamedUsage"] = pieces[-1].usage.model_dump() if pieces[-1].usage else None

schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"], "additionalProperties": False}
format_ = {"type": "json_schema", "json_schema": {"name": "person", "strict": True, "schema": schema}}
structured = client.chat.completions.create(model="sandbox-chat", messages=messages, response_format=format_)  # type: ignore[arg-type]
said["structured"] = json.loads(structured.choices[0].message.content or "")

try:
    client.images.generate(model="sandbox-image", prompt="x", extra_body={"inputs": {"sandbox": {"fail": "job"}}})
except APIStatusError as error:
    said["failure"] = {"status": error.status_code, "code": error.code, "retried": error.response.request.headers.get("x-stainless-retry-count")}

print(json.dumps(said))
