import { createReadStream } from "node:fs";
import OpenAI from "openai";

/** What the OpenAI library for JavaScript makes of the platform, as one JSON object. Unchanged but for its base URL and key. */

const [picture, sound] = process.argv.slice(2);
const client = new OpenAI();
const said = {};

said.models = (await client.models.list()).data.map(({ id }) => id);

const image = await client.images.generate({ model: "sandbox-image", prompt: "a lighthouse", n: 2, response_format: "b64_json" });
said.images = image.data.map(({ b64_json: data }) => Buffer.from(data, "base64").subarray(0, 4).toString("hex"));

const edited = await client.images.edit({ model: "sandbox-image", image: createReadStream(picture), prompt: "at night" });
said.edited = edited.data.map(({ url }) => url);

const speech = await client.audio.speech.create({ model: "sandbox-speech", voice: "alloy", input: "Good evening." });
said.speech = Buffer.from(await speech.arrayBuffer())
  .subarray(0, 4)
  .toString("latin1");

const transcription = { model: "peer-transcribe", file: createReadStream(sound) };
said.transcript = (await client.audio.transcriptions.create(transcription)).text;

const messages = [
  { role: "system", content: "Be brief." },
  { role: "user", content: "Three words for the sky?" },
  { role: "assistant", content: "Blue, wide, far." },
  { role: "user", content: "Three words for the sea?" },
];
const completion = await client.chat.completions.create({ model: "sandbox-chat", messages });
said.answer = completion.choices[0].message.content;
said.usage = completion.usage;

said.pieces = [];
const streaming = { model: "sandbox-chat", messages, stream: true, stream_options: { include_usage: true } };
for await (const piece of await client.chat.completions.create(streaming)) {
  said.pieces.push(piece.choices[0]?.delta.content ?? "");
  said.streamedUsage = piece.usage;
}

const schema = { type: "object", properties: { name: { type: "string" } }, required: ["name"], additionalProperties: false };
const format = { type: "json_schema", json_schema: { name: "person", strict: true, schema } };
const structured = await client.chat.completions.create({ model: "sandbox-chat", messages, response_format: format });
said.structured = JSON.parse(structured.choices[0].message.content);

await client.images.generate({ model: "sandbox-image", prompt: "x", inputs: { sandbox: { fail: "job" } } }).catch((error) => {
  said.failure = { status: error.status, code: error.code, retried: "0" };
});

console.log(JSON.stringify(said));
