import { readFile } from "node:fs/promises";
import { createFalClient, ValidationError } from "@fal-ai/client";

/** Results of fal's JavaScript library as one JSON object: the examples of its README, in every call style. */

const base = process.env.NODELOOM_BASE_URL;
const credentials = process.env.FAL_KEY;
const MODEL = "nodeloom/sandbox-image-fast";
const input = { prompt: "a cute cat, realistic, orange" };
const results = {};

const here = (url) =>
  url
    .replace("https://queue.fal.run/", `${base}/fal/`)
    .replace("https://fal.run/", `${base}/fal/run/`)
    .replace("https://rest.fal.ai/", `${base}/fal/rest/`);
const byMiddleware = createFalClient({ credentials, requestMiddleware: async (request) => ({ ...request, url: here(request.url) }) });
const byFetch = createFalClient({ credentials, fetch: (url, init) => fetch(here(url), init) });
const byProxy = createFalClient({ credentials, proxyUrl: { url: `${base}/fal/proxy`, when: "always" } });

const waysIn = { middleware: byMiddleware, fetch: byFetch, proxy: byProxy };
results.run = {};
for (const [name, client] of Object.entries(waysIn)) {
  const { data, requestId } = await client.run(MODEL, { input });
  results.run[name] = [data.images[0].url, requestId.length];
}

const fal = byMiddleware;
results.subscribed = {};
for (const mode of ["polling", "streaming"]) {
  const states = [];
  const logs = [];
  const { data } = await fal.subscribe(MODEL, {
    input,
    mode,
    logs: true,
    onQueueUpdate: (update) => {
      states.push(update.status);
      if (update.status === "IN_PROGRESS") logs.push(...update.logs.map(({ message }) => message));
    },
  });
  results.subscribed[mode] = [data.images[0].url, states.at(-1)];
}

const picture = await readFile(process.argv[2]);
results.uploaded = {};
for (const [name, client] of Object.entries(waysIn)) {
  const image = await client.storage.upload(new File([picture], "hat.png", { type: "image/png" }));
  const { data } = await client.subscribe("nodeloom/sandbox-image", { input: { ...input, image } });
  results.uploaded[name] = [data.images[0].url, (await fetch(image)).headers.get("content-type")];
}
const { data: automatic } = await fal.subscribe("nodeloom/sandbox-image", { input: { ...input, image: new Blob([picture]) } });
results.uploaded.automatic = automatic.images[0].url;

const { request_id: requestId } = await byProxy.queue.submit(MODEL, { input: { ...input, sandbox: { latencyMs: 60_000 } } });
results.going = (await byProxy.queue.status(MODEL, { requestId, logs: true })).status;
await byProxy.queue.cancel(MODEL, { requestId });
const status = await byProxy.queue.subscribeToStatus(MODEL, { requestId });
results.cancelled = [status.status, status.error_type];
await byProxy.queue.result(MODEL, { requestId }).catch((error) => results.cancelled.push(error.status));

await fal.subscribe(MODEL, { input: { nonsense: 1 } }).catch((error) => {
  results.invalid = [error instanceof ValidationError, error.status, error.fieldErrors[0].loc[0]];
});

console.log(JSON.stringify(results));
