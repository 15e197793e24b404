import { createReadStream } from "node:fs";
import OpenAI from "openai";

/** Results of OpenAI's JavaScript library as one JSON object. Only its base URL and key are changed. */

const [picture, sound] = process.argv.slice(2);
const client = new OpenAI();
const results = {};

results.models = (await client.models.list()).data.map(({ id }) => id);

const image = await client.images.generate({ model: "sandbox-image", prompt: "a lighthouse", n: 2, response_format: "b64_json" });
results.images = image.data.map(({ b64_json: data }) => Buffer.from(data, "base64").subarray(0, 4).toString("hex"));

const edited = await client.images.edit({ model: "sandbox-image", image: createReadStream(picture), prompt: "at night" });
results.edited = edited.data.map(({ url }) => url);

const speech = await client.audio.speech.create({ model: "sandbox-speech", voice: "alloy", input: "Good evening." });
results.speech = Buffer.from(await speech.arrayBuffer())
  .subarray(0, 4)
  .toString("latin1");

const transcription = { model: "peer-transcribe", file: createReadStream(sound) };
results.transcript = (await client.audio.transcriptions.create(transcription)).text;

const messages = [
  { role: "system", content: "Be brief." },
  { role: "user", content: "Three words for the sky?" },
  { role: "assistant", content: "Blue, wide, far." },
  { role: "user", content: "Three words for the sea?" },
];
const completion = await client.chat.completions.create({ model: "sandbox-chat", messages });
results.answer = completion.choices[0].message.content;
results.usage = completion.usage;

results.pieces = [];
const streaming = { model: "sandbox-chat", messages, stream: true, stream_options: { include_usage: true } };
for await (const piece of await client.chat.completions.create(streaming)) {
  results.pieces.push(piece.choices[0]?.delta.content ?? "");
  results.streamedUsage = piece.usage;
}

const schema = { type: "object", properties: { name: { type: "string" } }, required: ["name"], additionalProperties: false };
const format = { type: "json_schema", json_schema: { name: "person", strict: true, schema } };
const structured = await client.chat.completions.create({ model: "sandbox-chat", messages, response_format: format });
results.structured = JSON.parse(structured.choices[0].message.content);

results.model = (await client.models.retrieve("sandbox-chat")).id;
const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"], additionalProperties: false };
const weather = { name: "weather", parameters, strict: true };
const asking = { model: "sandbox-chat", tools: [{ type: "function", function: weather }] };
const question = [{ role: "user", content: "Rain?" }];
const { message } = (await client.chat.completions.create({ ...asking, messages: question })).choices[0];
const [call] = message.tool_calls;
const returned = { role: "tool", tool_call_id: call.id, content: "It pours." };
const answered = await client.chat.completions.create({ ...asking, messages: [...question, message, returned] });
const names = Object.keys(JSON.parse(call.function.arguments));
results.tools = [call.function.name, names, answered.choices[0].message.content.includes("It pours.")];

const responding = { model: "sandbox-chat", tools: [{ type: "function", ...weather }] };
const first = await client.responses.create({ ...responding, input: "Rain?" });
const output = { type: "function_call_output", call_id: first.output[0].call_id, output: "It pours." };
const second = await client.responses.create({ ...responding, input: [...question, ...first.output, output] });
const deltas = [];
const events = client.responses.stream({ model: "sandbox-chat", input: "Three words for the sea?" });
events.on("response.output_text.delta", ({ delta }) => deltas.push(delta));
const { output_text: whole } = await events.finalResponse();
results.responses = [second.output_text.includes("It pours."), deltas.join("") === whole, deltas.length > 1];

await client.images.generate({ model: "sandbox-image", prompt: "x", inputs: { sandbox: { fail: "job" } } }).catch((error) => {
  results.failure = { status: error.status, code: error.code, retried: "0" };
});

console.log(JSON.stringify(results));
