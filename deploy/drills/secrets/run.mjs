/**
 * `npm run drill secrets`: makes a hundred runs that send secrets on a whole local platform: in addresses, headers and bodies; echoed,
 * rejected, failing, in a batch, and repeated. Then it searches every place where runs store data for the secrets' values, in every form.
 * The search must find a public text that is sent with them, because otherwise finding nothing proves nothing. The drill affects only
 * processes that it started.
 */
import { randomBytes } from "node:crypto";
import { createApi, expecting } from "../support/api.mjs";
import { node } from "../support/graph.mjs";
import { untilFinal } from "../support/invariants.mjs";
import { pause, readLocal, startPlatform } from "../support/platform.mjs";
import { runDrill } from "../support/run-drill.mjs";
import { serve } from "../support/serve.mjs";
import { searchMongo, searchRedis, searchTemporal } from "../support/stores.mjs";
import { createSearch } from "./search.mjs";
import { searchFiles, startCollector, watchRedis } from "./stores.mjs";

export const DRILL = {
  sentence: "makes a hundred runs that send secrets, then searches every store, log, trace and answer for their values",
  minutes: 1,
  builds: true,
};

const SYNCHRONOUS = 40;
const ASYNCHRONOUS = 20;
const FAILING = 10;
const ELSEWHERE = 10;
const BATCH = 20;
const RUNS = SYNCHRONOUS + ASYNCHRONOUS + FAILING + ELSEWHERE + BATCH;
const AT_ONCE = 8;
const END_MS = 120_000;
/** Delayed writes take less time than this. */
const AFTER_MS = 12_000;
/** Control texts that the search must find: a public text sent with the secrets, and ids of the runs in Redis. */
const MUST_HAVE = /** @type {Record<string, string>} */ ({ MongoDB: "CONTROL", Temporal: "CONTROL", answers: "CONTROL", Redis: "USER" });
const PLACES = [...Object.keys(MUST_HAVE), "traces", "logs", "files of the databases"];

const SECRETS = {
  /** Includes characters that URLs, JSON and forms escape. */
  TOKEN: `sk/${randomBytes(12).toString("base64url")}+"=& ${randomBytes(9).toString("base64url")}`,
  PASSWORD: randomBytes(18).toString("hex"),
};
const CONTROL = `control-${randomBytes(12).toString("hex")}`;

/** Echoes requests in several forms. */
const startEcho = () =>
  serve((request, response, body) => {
    const fails = request.url?.startsWith("/failing");
    response.writeHead(fails ? 500 : 200, { "content-type": "application/json", "x-echo": String(request.headers.authorization) });
    response.end(
      JSON.stringify({
        ...{ url: request.url, headers: request.headers, body },
        base64: Buffer.from(`user:${request.headers.authorization}`).toString("base64"),
        parsed: body.startsWith("{") ? JSON.parse(body) : null,
      }),
    );
  });

/** @param {string} url @param {object} [settings] */
const graph = (url, settings = {}) => ({
  name: "Secrets",
  nodes: [
    node("in", "request-input", { fields: [{ name: "control", type: "text", label: "Control" }] }),
    node("send", "http-request", {
      ...{ method: "POST", url: `${url}?key={{secrets.TOKEN}}&control={{control}}` },
      headers: { Authorization: "Bearer {{secrets.TOKEN}}", "X-Password": "{{secrets.PASSWORD}}", "X-Control": "{{control}}" },
      body: { token: "<{{secrets.TOKEN}}>", deep: [{ password: "{{secrets.PASSWORD}}" }], control: "{{control}}" },
      ...settings,
    }),
    node("out", "response-output"),
  ],
  edges: [
    { id: "a", source: "in", sourceHandle: "control", target: "send", targetHandle: "control" },
    { id: "b", source: "send", sourceHandle: "body", target: "out", targetHandle: "echo" },
  ],
});

/** Repeats work, partly in parallel. @template T @param {number} times @param {() => Promise<T>} work @returns {Promise<T[]>} */
const often = async (times, work) => {
  /** @type {T[]} */
  const results = [];
  let remaining = times;
  const one = async () => {
    while (remaining > 0) {
      remaining -= 1;
      results.push(await work());
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
  return results;
};

await runDrill("secrets", async ({ say, check, atEnd }) => {
  const search = createSearch();
  search.add({ ...SECRETS, CONTROL });
  const { look } = search;
  const [echo, collector] = await Promise.all([startEcho(), startCollector(look)]);
  atEnd(echo.close);
  atEnd(collector.stop);
  const env = { EGRESS_ALLOW: echo.address, LOG_LEVEL: "debug", OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, TRACES_SHARE: "1" };
  const platform = await startPlatform(env);
  atEnd(platform.stop);
  const { mongoUri, redisUrl, temporalAddress, accounts } = readLocal();
  search.add({ USER: accounts.enterprise.userId });
  atEnd(await watchRedis(redisUrl, look));
  const api = createApi(() => readLocal().baseUrl);
  const { key, cookie } = await api.enterprise(accounts, `http://${echo.address}/hook`);

  /** Collects responses for the search. @type {typeof api.call} */
  const call = async (method, path, options) => {
    const answer = await api.call(method, path, options);
    look("answers", JSON.stringify(answer.body) + JSON.stringify([...answer.headers]));
    return answer;
  };
  const expected = expecting(call);
  for (const [name, value] of Object.entries(SECRETS))
    await expected(200, "PUT", `/api/secrets/${name}`, { cookie, body: { value, hosts: [echo.address] } });
  const save = async (/** @type {object} */ body) => (await expected(201, "POST", "/api/workflows", { key, body })).body.slug;
  const [good, failing, elsewhere] = [
    await save(graph(`http://${echo.address}/`)),
    await save(graph(`http://${echo.address}/failing`, { failOnStatus: true })),
    await save(graph("https://nodeloom.invalid/")),
  ];
  const inputs = { control: CONTROL };
  const run = (/** @type {string} */ slug, query = "") => call("POST", `/api/workflows/${slug}/run${query}`, { key, body: { inputs } });
  const executionOf = (/** @type {{ headers: Headers }} */ { headers }) => headers.get("x-execution-id") ?? "";

  const { body: batch } = await expected(202, "POST", `/api/workflows/${good}/batches`, {
    key,
    body: { inputs: Array.from({ length: BATCH }, () => inputs) },
  });
  const ids = [
    ...(await often(SYNCHRONOUS, () => run(good))).map(executionOf),
    ...(await often(ASYNCHRONOUS, () => run(good, "?async=true"))).map(({ body }) => body.executionId),
    ...(await often(FAILING, () => run(failing))).map(executionOf),
    ...(await often(ELSEWHERE, () => run(elsewhere))).map(executionOf),
  ];
  await expected(200, "POST", `/api/executions/${ids[0]}/rerun`, { key, body: { reuse: ["send"] } });
  await expected(200, "POST", `/api/workflows/${good}/quote`, { key, body: { inputs } });

  const until = async (/** @type {string} */ path) => {
    await untilFinal(api, path, { key }, END_MS);
    return (await expected(200, "GET", path, { key })).body;
  };
  /** @type {Map<string, number>} */
  const ends = new Map();
  for (const id of ids) {
    const { status } = await until(`/api/executions/${id}`);
    ends.set(status, (ends.get(status) ?? 0) + 1);
    const events = await fetch(`${readLocal().baseUrl}/api/executions/${id}/events`, { headers: { "x-api-key": key } });
    look("answers", await events.text());
  }
  const batched = await until(`/api/batches/${batch.batchId}`);
  await expected(200, "GET", "/api/usage", { key });
  await expected(200, "GET", "/api/secrets", { cookie });
  await expected(200, "GET", "/api/admin/audit", { key: accounts.admin.apiKey });
  say(
    `${RUNS} runs are over: ${[...ends].map(([status, count]) => `${count} ${status}`).join(", ")}, a batch of ${BATCH} ${batched.status}`,
  );

  await pause(AFTER_MS);
  await searchMongo(mongoUri, (_, content) => look("MongoDB", content));
  await searchTemporal(temporalAddress, look);
  await searchRedis(redisUrl, look);
  await searchFiles(look);

  const times = (/** @type {string} */ place, /** @type {string} */ name) => search.found.get(place)?.get(name) ?? 0;
  const [completed, failed] = [SYNCHRONOUS + ASYNCHRONOUS, FAILING + ELSEWHERE];
  check(
    ["runs ended as they should", ends.get("completed") === completed && ends.get("failed") === failed, JSON.stringify([...ends])],
    ["the batch completed", batched.status === "completed", batched.status],
  );
  for (const place of PLACES) {
    const values = Object.keys(SECRETS).map((name) => `${name} ${times(place, name)} times`);
    const kilobytes = ((search.looked.get(place) ?? 0) / 1024).toFixed(0);
    const isClean = (search.looked.get(place) ?? 0) > 0 && Object.keys(SECRETS).every((name) => times(place, name) === 0);
    const control = MUST_HAVE[place];
    const isSeeing = control === undefined || times(place, control) > 0;
    check([
      `${place} have no secret`,
      isClean && isSeeing,
      `${kilobytes} kB: ${values.join(", ")}, ${control ?? "CONTROL"} ${times(place, control ?? "CONTROL")} times`,
    ]);
  }
});
