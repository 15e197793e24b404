"""What the OpenAI library for Python makes of the platform, as one JSON object. Unchanged but for its base URL and key."""

import base64
import io
import json
import sys
import urllib.request

from openai import APIStatusError, OpenAI

picture, sound, *more = sys.argv[1:]
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

if "direct" in more:
    said["model"] = client.models.retrieve("sandbox-chat").id
    parameters = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": False}
    tools = [{"type": "function", "function": {"name": "weather", "parameters": parameters, "strict": True}}]
    asked = [{"role": "user", "content": "Rain?"}]
    message = client.chat.completions.create(model="sandbox-chat", messages=asked, tools=tools).choices[0].message  # type: ignore[arg-type]
    call = (message.tool_calls or [])[0]
    returned = {"role": "tool", "tool_call_id": call.id, "content": "It pours."}
    answered = client.chat.completions.create(model="sandbox-chat", messages=[*asked, message, returned], tools=tools)  # type: ignore[list-item]
    said["tools"] = [call.function.name, sorted(json.loads(call.function.arguments)), "It pours." in (answered.choices[0].message.content or "")]

    declared = [{"type": "function", "name": "weather", "parameters": parameters, "strict": True}]
    first = client.responses.create(model="sandbox-chat", input="Rain?", tools=declared)  # type: ignore[arg-type]
    output = {"type": "function_call_output", "call_id": first.output[0].call_id, "output": "It pours."}  # type: ignore[union-attr]
    turns = [{"role": "user", "content": "Rain?"}, *(item.model_dump() for item in first.output), output]
    said["responses"] = ["It pours." in client.responses.create(model="sandbox-chat", input=turns, tools=declared).output_text]  # type: ignore[arg-type]
    with client.responses.stream(model="sandbox-chat", input="Three words for the sea?") as events:
        deltas = [event.delta for event in events if event.type == "response.output_text.delta"]
        said["responses"] += ["".join(deltas) == events.get_final_response().output_text, len(deltas) > 1]  # type: ignore[operator]

try:
    client.images.generate(model="sandbox-image", prompt="x", extra_body={"inputs": {"sandbox": {"fail": "job"}}})
except APIStatusError as error:
    said["failure"] = {"status": error.status_code, "code": error.code, "retried": error.response.request.headers.get("x-stainless-retry-count")}

print(json.dumps(said))
