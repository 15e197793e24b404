/**
 * Records the histories for replay.test.ts from a running local platform: `node services/executions/test/record-histories.mjs [name…]`.
 * Record them again only together with a `patched` change. Names with `direct` need a registry with the models of fixtures/models: copy
 * them and services/models/registry into one folder, and start the platform with `MODELS_REGISTRY_DIR=<folder> npm start`.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { Client, Connection } from "@temporalio/client";
import proto from "@temporalio/proto";

const { History } = proto.temporal.api.history.v1;
const FOLDER = fileURLToPath(new URL("fixtures/histories/", import.meta.url));
const local = JSON.parse(readFileSync(new URL("../../../.nodeloom/local.json", import.meta.url), "utf8"));
const key = local.accounts.business.apiKey;

const names = process.argv.slice(2);

/** Target of HTTP nodes: the platform runs with `EGRESS_ALLOW=127.0.0.1:18999`. */
const ANSWERING = 18_999;
const answering = createServer((_, response) => void response.setHeader("content-type", "application/json").end('["a","b"]')).listen(
  ANSWERING,
  "127.0.0.1",
);

const api = async (method, path, body, more = {}) => {
  const response = await fetch(local.baseUrl + path, {
    method,
    headers: { "x-api-key": key, "content-type": "application/json", ...more },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, id: response.headers.get("x-execution-id"), body: await response.json() };
};

const node = (id, type, data = {}) => ({ id, type, data });
const edge = (from, to) => {
  const [[source, sourceHandle], [target, targetHandle]] = [from.split("."), to.split(".")];
  return { id: `${from}>${to}`, source, sourceHandle, target, targetHandle };
};
const out = node("out", "response-output");
const picture = (id, sandbox) => node(id, "generate-image", { model: "direct-image", inputs: { prompt: "a loom", sandbox } });
const video = (id, sandbox) => node(id, "generate-video", { model: "sandbox-video", inputs: { prompt: "a loom", seconds: 1, sandbox } });

const KINDS = {
  job: { nodes: [video("v", { latencyMs: 300 }), out], edges: [edge("v.video", "out.videos")] },
  "text-model-then-template": {
    nodes: [
      node("llm", "llm-assistant", { model: "sandbox-chat", prompt: "hi", maxTokens: 20 }),
      node("box", "text-box", { text: "Said: {{x}}" }),
      out,
    ],
    edges: [edge("llm.text", "box.x"), edge("box.text", "out.text")],
  },
  "fan-out": {
    nodes: [
      node("list", "list", { items: ["a", "b", "c"] }),
      node("pic", "generate-image", { model: "sandbox-image-fast", inputs: {} }),
      out,
    ],
    edges: [edge("list.items", "pic.prompt"), edge("pic.image", "out.images")],
  },
  // The list is longer than planned, so its hold is extended.
  extended: {
    nodes: [
      node("get", "http-request", { url: `http://127.0.0.1:${ANSWERING}` }),
      node("pic", "generate-image", { model: "sandbox-image-fast", inputs: {} }),
      out,
    ],
    edges: [edge("get.body", "pic.prompt"), edge("pic.image", "out.images")],
  },
  "http-request": {
    nodes: [node("get", "http-request", { url: `http://127.0.0.1:${ANSWERING}` }), out],
    edges: [edge("get.status", "out.code")],
  },
  // The job takes longer than the workflow task that submits it.
  "job-handed-over": { nodes: [video("v", { latencyMs: 4_000 }), out], edges: [edge("v.video", "out.videos")] },
  "failed-with-siblings": {
    nodes: [video("bad", { latencyMs: 50, fail: "job" }), video("slow", { latencyMs: 60_000 }), out],
    edges: [edge("slow.video", "out.videos")],
  },
  cancelled: { nodes: [video("v", { latencyMs: 60_000 }), out], edges: [edge("v.video", "out.videos")], cancel: "?async=true" },
  // Waits without a place, and continues with a changed value.
  approval: {
    nodes: [
      node("pic", "generate-image", { model: "sandbox-image-fast", inputs: { prompt: "a loom" } }),
      node("text", "text-box", { text: "a draft" }),
      node("review", "approval", { title: "Good?" }),
      node("box", "text-box", { text: "Sent: {{x}}" }),
      out,
    ],
    edges: [
      edge("pic.image", "out.images"),
      edge("text.text", "review.value"),
      edge("review.approved", "box.x"),
      edge("box.text", "out.text"),
    ],
    decide: { nodeId: "review", decision: "approve", value: "a letter" },
  },
  direct: { nodes: [picture("p", { latencyMs: 100 }), out], edges: [edge("p.image", "out.images")] },
  // These models only run synchronously: the answer arrives before the end.
  "direct-cancelled": { nodes: [picture("p", { latencyMs: 60_000 }), out], edges: [edge("p.image", "out.images")], cancel: "" },
};

const connection = await Connection.connect({ address: local.temporalAddress });
const client = new Client({ connection });
for (const [name, { cancel, decide, ...graph }] of Object.entries(KINDS)) {
  if (names.length > 0 && !names.includes(name)) continue;
  const { body } = await api("POST", "/api/workflows", { name: `replay ${name}`, ...graph });
  const run = await api(
    "POST",
    `/api/workflows/${body.slug}/run${cancel ?? ""}`,
    { inputs: {} },
    cancel === "" ? { prefer: "wait=1" } : {},
  );
  if (decide) await api("POST", `/api/executions/${run.id}/decisions`, decide);
  if (cancel !== undefined) await api("POST", `/api/executions/${run.id}/cancel`);
  const handle = client.workflow.getHandle(run.id);
  await handle.result();
  writeFileSync(`${FOLDER}${name}.binpb`, History.encode(await handle.fetchHistory()).finish());
  await api("DELETE", `/api/workflows/${body.slug}`).catch(() => undefined);
  console.log(name, run.status, run.id);
}

/** Records a batch: its turn and its end. */
const recordBatch = async () => {
  const { body } = await api("POST", "/api/models/sandbox-image-fast/batches", { inputs: [{ prompt: "a loom" }, { prompt: "a kite" }] });
  const handle = client.workflow.getHandle(`batch-${body.batchId}`);
  await handle.result();
  writeFileSync(`${FOLDER}batch.binpb`, History.encode(await handle.fetchHistory()).finish());
  console.log("batch", body.batchId);
};
if (names.length === 0 || names.includes("batch")) await recordBatch();
await connection.close();
answering.close();
