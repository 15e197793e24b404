import { readFile } from "node:fs/promises";
import Replicate from "replicate";

/** Results of Replicate's JavaScript library as one JSON object: the examples of its README. */

const [picture] = process.argv.slice(2);
const auth = process.env.REPLICATE_API_TOKEN;
const baseUrl = `${process.env.NODELOOM_BASE_URL}/replicate/v1`;
// Adds the key, because the library requests the address of a stream without one.
const withKey = (url, init) => fetch(url, { ...init, headers: { ...init?.headers, Authorization: `Bearer ${auth}` } });
const replicate = new Replicate({ auth, baseUrl, fetch: withKey });
const MODEL = "nodeloom/sandbox-image-fast";
const input = { prompt: "a 19th century portrait of a raccoon gentleman wearing a suit" };
const results = {};

const statuses = [];
results.run = (await replicate.run(MODEL, { input }, ({ status }) => statuses.push(status))).map(String);
results.progress = statuses.at(-1);
results.polled = (await replicate.run(MODEL, { input, wait: { mode: "poll" } })).length;

results.file = (await replicate.run("nodeloom/sandbox-image", { input: { ...input, image: await readFile(picture) } })).map(String);

results.streamed = [];
for await (const { event, data } of replicate.stream("nodeloom/sandbox-chat", { input: { prompt: "A haiku about llamas, please." } }))
  results.streamed.push(event === "output" ? data : "");

const { latest_version: version } = await replicate.models.get("nodeloom", "sandbox-image-fast");
let prediction = await replicate.predictions.create({ version: version.id, input });
results.created = prediction.status;
prediction = await replicate.predictions.get(prediction.id);
prediction = await replicate.wait(prediction);
results.ended = [prediction.status, prediction.error, prediction.output.length];

let slow = await replicate.predictions.create({ model: MODEL, input: { ...input, sandbox: { latencyMs: 60_000 } } });
await replicate.predictions.cancel(slow.id);
slow = await replicate.wait(slow);
results.cancelled = slow.status;

const ids = [];
for await (const page of replicate.paginate(replicate.predictions.list)) ids.push(...page.map(({ id }) => id));
results.listed = ids.includes(prediction.id) && ids.includes(slow.id);

results.failed = await replicate.run(MODEL, { input: { ...input, sandbox: { fail: "job" } } }).catch(({ message }) => message);
results.invalid = await replicate.run(MODEL, { input: { nonsense: 1 } }).catch(({ response }) => response.status);

console.log(JSON.stringify(results));
