/**
 * `npm run drill erasing`: starts runs with a unique word in inputs, metadata, outputs, webhooks and files, and deletes them. Runs with a
 * second word are erased by metadata, with a batch, a budget and kept files, while services are killed. Then every store is searched for
 * both words. Before the deletion the search must find them, because otherwise finding nothing proves nothing. The drill affects only
 * processes that it started.
 */
import { randomBytes } from "node:crypto";
import { expecting } from "../support/api.mjs";
import { killProcess } from "../support/faults.mjs";
import { node } from "../support/graph.mjs";
import { creditChecks, untilFinal } from "../support/invariants.mjs";
import { pause } from "../support/platform.mjs";
import { runDrill } from "../support/run-drill.mjs";
import { setStage } from "../support/stage.mjs";
import { listed, placesOf } from "../support/stores.mjs";

export const DRILL = {
  sentence: "deletes and erases runs under kills, then searches every store for words that they carried",
  minutes: 3,
};

/** Limit that the documentation promises. */
const GONE_MS = 600_000;
const LOOK_MS = 5_000;
const END_MS = 120_000;
const KILLS = ["executions", "media", "usage", "notifications"];

/** The prompt is used as text and for a picture, and is too long for a row. */
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

/** Searches until no store has the word. @param {string} word */
const untilGone = async (word) => {
  const since = Date.now();
  for (;;) {
    const places = await placesOf(word);
    if (places.size === 0 || Date.now() - since > GONE_MS) return { found: places, seconds: Math.round((Date.now() - since) / 1_000) };
    await pause(LOOK_MS);
  }
};

await runDrill("erasing", async ({ say, check, atEnd }) => {
  const { api, adminKey, user } = await setStage({ atEnd });
  const expected = expecting(api.call);
  const { key, cookie } = user;
  const slug = await api.save(key, GRAPH);

  const over = (/** @type {string} */ id) => untilFinal(api, `/api/executions/${id}`, { key }, END_MS);
  /** Creates three runs and a rerun with a word. @param {string} word @returns {Promise<string[]>} */
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
  const before = await placesOf(word);
  say(`before: ${listed(before)}`);
  const PLACES = ["executions.executions", "executions.payloads", "media.objects", "usage.usage", "Temporal"];
  check(
    ...PLACES.map((place) => /** @type {[string, boolean, string]} */ ([`the search sees ${place}`, (before.get(place) ?? 0) > 0, ""])),
  );
  const like = listed(await placesOf(other));

  for (const [index, id] of ids.entries()) {
    const deleted = await api.call("DELETE", `/api/executions/${id}`, { cookie });
    check([`a run is deleted`, deleted.status === 204 || deleted.status === 404, `${deleted.status} ${JSON.stringify(deleted.body)}`]);
    await killProcess(/** @type {string} */ (KILLS[index]), say);
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
  const otherPlaces = listed(await placesOf(other));
  check(
    ["polling a deleted run returns 404", polled.status === 404, String(polled.status)],
    [
      "so does its Idempotency-Key, as a replay",
      again.status === 404 && again.headers.get("idempotency-replayed") === "true",
      `${again.status} ${JSON.stringify(again.body)}`,
    ],
    ...(await creditChecks(api, adminKey, cookie)),
    ["nothing of other runs is gone", otherPlaces === like, `${like}; then ${otherPlaces}`],
  );

  const customer = wordOf();
  const metadata = { name: "customer", value: customer };
  const [first = ""] = await createRuns(customer);
  const { rows: files } = (await expected(200, "GET", "/api/media?limit=100", { cookie })).body;
  const imageUrl = (await over(first)).result.images[0].url;
  const file = files.find((/** @type {{ url: string }} */ { url }) => new URL(url).pathname === new URL(imageUrl).pathname);
  await expected(200, "POST", `/api/media/${file.id}/keep`, { cookie });
  await expected(200, "PUT", "/api/budgets", { cookie, body: { metadata, credits: 10_000, window: "month" } });
  const items = { inputs: [1, 2].map((item) => ({ prompt: `${customer} ${item}` })), metadata: { customer } };
  const { batchId } = (await expected(202, "POST", `/api/workflows/${slug}/batches`, { key, body: items })).body;
  for (
    const end = Date.now() + END_MS;
    (await api.call("GET", `/api/batches/${batchId}`, { key })).body.status !== "completed";
    await pause(300)
  )
    if (Date.now() > end) throw new Error("the batch is not over");
  const customerPlaces = await placesOf(customer);
  say(`before: ${listed(customerPlaces)}`);
  check(
    ...[...PLACES, "executions.batches", "billing.accounts", "identity.audit"].map(
      (place) => /** @type {[string, boolean, string]} */ ([`the search sees ${place}`, (customerPlaces.get(place) ?? 0) > 0, ""]),
    ),
  );
  const others = listed(await placesOf(other));
  const dry = await api.call("POST", "/api/erasures", { cookie, body: { metadata, dryRun: true } });
  const body = { inputs: { prompt: customer }, metadata: { customer } };
  const late = await expected(202, "POST", `/api/workflows/${slug}/run?async=true`, { key, body });
  const { erasureId } = (await expected(202, "POST", "/api/erasures", { cookie, body: { metadata } })).body;
  for (const name of ["executions", "usage", "identity", "billing"]) {
    await pause(1_500);
    await killProcess(name, say);
  }
  /** @type {any} */
  let erasure;
  for (const end = Date.now() + GONE_MS; erasure?.state !== "completed"; await pause(LOOK_MS)) {
    erasure = (await api.call("GET", `/api/erasures/${erasureId}`, { cookie })).body;
    if (Date.now() > end) break;
  }
  const remaining = await untilGone(customer);
  const othersAfter = listed(await placesOf(other));
  check(
    [
      "a dry run counts and erases nothing",
      dry.status === 202 && dry.body.erasureId === null && dry.body.matched >= 4,
      JSON.stringify(dry.body),
    ],
    ["the erasure is complete under kills", erasure?.state === "completed" && erasure.remaining === 0, JSON.stringify(erasure)],
    [`the customer is nowhere, ${remaining.seconds} s after that`, remaining.found.size === 0, listed(remaining.found)],
    ["the run that was under way is gone", (await api.call("GET", `/api/executions/${late.body.executionId}`, { key })).status === 404, ""],
    ...(await creditChecks(api, adminKey, cookie)),
    ["nothing of another customer is gone", othersAfter === others, `${others}; then ${othersAfter}`],
  );
});
