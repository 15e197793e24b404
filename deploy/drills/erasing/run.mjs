/**
 * `npm run drill erasing`: runs carry a word of their own in inputs, metadata, outputs, webhooks and files; they are deleted while services
 * are killed, and every store is searched for the word. Before that it must be found: a search that finds nothing proves nothing.
 * Touches only processes that it started.
 */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { LOG_DIR, MEDIA_DIR } from "../../local/paths.mjs";
import { filesIn } from "../leaving/files.mjs";
import { createApi, expecting } from "../support/api.mjs";
import { node } from "../support/graph.mjs";
import { pause, pidOf, readLocal, startPlatform } from "../support/platform.mjs";
import { createReceiver } from "../support/receiver.mjs";
import { runDrill } from "../support/run-drill.mjs";
import { readings, searchMongo, searchRedis, searchTemporal } from "../support/stores.mjs";

export const DRILL = {
  sentence: "deletes runs under kills, then searches every store for a word that they carried",
  minutes: 3,
};

/** As the documentation promises. */
const GONE_MS = 600_000;
const LOOK_MS = 5_000;
const END_MS = 120_000;
const KILLS = ["executions", "media", "usage", "notifications"];
const FINAL = ["completed", "failed", "cancelled"];
const PREFIX = "nodeloom_";

/** A prompt is shown as text and drawn as a picture; it is too long for a row. */
const GRAPH = {
  name: "Posters",
  nodes: [
    node("in", "request-input", { fields: [{ name: "prompt", type: "text" }] }),
    node("text", "text-box", { text: "{{prompt}}" }),
    node("picture", "generate-image", { model: "sandbox-image" }),
    node("out", "response-output"),
  ],
  edges: [
    { id: "a", source: "in", sourceHandle: "prompt", target: "text", targetHandle: "prompt" },
    { id: "b", source: "in", sourceHandle: "prompt", target: "picture", targetHandle: "prompt" },
    { id: "c", source: "text", sourceHandle: "text", target: "out", targetHandle: "text" },
    { id: "d", source: "picture", sourceHandle: "image", target: "out", targetHandle: "images" },
  ],
};

/** How often a word is found, by place. @param {string} word @returns {Promise<Map<string, number>>} */
const searchAll = async (word) => {
  const { mongoUri, redisUrl, temporalAddress } = readLocal();
  /** @type {Map<string, number>} */
  const found = new Map();
  /** @type {import("../support/stores.mjs").Look} */
  const look = (place, content) => {
    const name = place.replace(PREFIX, "");
    if (readings(content).some((part) => part.includes(word))) found.set(name, (found.get(name) ?? 0) + 1);
  };
  await searchMongo(mongoUri, look);
  await searchRedis(redisUrl, look);
  await searchTemporal(temporalAddress, look);
  for (const path of await filesIn(LOG_DIR)) look("logs", readFileSync(path));
  for (const path of await filesIn(MEDIA_DIR)) look("media", readFileSync(path));
  return found;
};

/** @param {Map<string, number>} places */
const listed = (places) => [...places].map(([place, count]) => `${place} ${count}`).join(", ") || "nowhere";

/** Looks until a word is found nowhere. @param {string} word */
const untilGone = async (word) => {
  const since = Date.now();
  for (;;) {
    const found = await searchAll(word);
    if (found.size === 0 || Date.now() - since > GONE_MS) return { found, seconds: Math.round((Date.now() - since) / 1_000) };
    await pause(LOOK_MS);
  }
};

await runDrill("erasing", async ({ say, check, atEnd }) => {
  const receiver = await createReceiver();
  atEnd(receiver.close);
  const platform = await startPlatform({ EGRESS_ALLOW: receiver.address });
  atEnd(platform.stop);
  const api = createApi(() => readLocal().baseUrl);
  const expected = expecting(api.call);
  const user = await api.enterprise(readLocal().accounts, receiver.url);
  const { key, cookie } = user;
  const { slug } = (await expected(201, "POST", "/api/workflows", { key, body: GRAPH })).body;

  const over = async (/** @type {string} */ id) => {
    for (const end = Date.now() + END_MS; ; await pause(300)) {
      const { body } = await api.call("GET", `/api/executions/${id}`, { key });
      if (FINAL.includes(body?.status)) return body;
      if (Date.now() > end) throw new Error(`${id} is not over: ${JSON.stringify(body)}`);
    }
  };
  /** Three runs and a rerun that carry a word. @param {string} word @returns {Promise<string[]>} */
  const createRuns = async (word) => {
    const body = { inputs: { prompt: `a heron of ${word} `.repeat(200) }, metadata: { customer: word }, provenance: "full" };
    const ids = [];
    for (let run = 0; run < 3; run += 1)
      ids.push(
        (await expected(202, "POST", `/api/workflows/${slug}/run?async=true`, { key, body, idempotencyKey: `${run}-${word}` })).body
          .executionId,
      );
    for (const id of ids) await over(id);
    const rerun = await expected(202, "POST", `/api/executions/${ids[0]}/rerun`, {
      key,
      body: { metadata: { customer: word } },
      prefer: "respond-async",
    });
    ids.push(rerun.body.executionId);
    await over(rerun.body.executionId);
    return ids;
  };
  const wordOf = () => `zq${randomBytes(8).toString("hex")}`;

  const word = wordOf();
  const other = wordOf();
  const ids = await createRuns(word);
  await createRuns(other);
  const before = await searchAll(word);
  say(`before: ${listed(before)}`);
  const PLACES = ["executions.executions", "executions.payloads", "media.objects", "usage.usage", "Temporal"];
  check(
    ...PLACES.map((place) => /** @type {[string, boolean, string]} */ ([`the search sees ${place}`, (before.get(place) ?? 0) > 0, ""])),
  );
  const like = listed(await searchAll(other));

  for (const [index, id] of ids.entries()) {
    const deleted = await api.call("DELETE", `/api/executions/${id}`, { cookie });
    check([`a run is deleted`, deleted.status === 204 || deleted.status === 404, `${deleted.status} ${JSON.stringify(deleted.body)}`]);
    process.kill(pidOf(/** @type {string} */ (KILLS[index])), "SIGKILL");
    await pause(1_000);
  }
  const { found, seconds } = await untilGone(word);
  check([`the word is nowhere, ${seconds} s after the last run was deleted`, found.size === 0, listed(found)]);
  const polled = await api.call("GET", `/api/executions/${ids[0]}`, { key });
  const again = await api.call("POST", `/api/workflows/${slug}/run?async=true`, {
    key,
    body: { inputs: {} },
    idempotencyKey: `0-${word}`,
  });
  const ledger = await api.call("GET", "/api/admin/ledger/check?full=true", { key: readLocal().accounts.admin.apiKey });
  const kept = listed(await searchAll(other));
  check(
    ["polling a deleted run returns 404", polled.status === 404, String(polled.status)],
    [
      "so does its Idempotency-Key, as a replay",
      again.status === 404 && again.headers.get("idempotency-replayed") === "true",
      `${again.status} ${JSON.stringify(again.body)}`,
    ],
    ["the ledger adds up", ledger.body.ok === true, JSON.stringify(ledger.body.mismatches)],
    ["nothing of other runs is gone", kept === like, `${like}; then ${kept}`],
  );
});
