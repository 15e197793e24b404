/**
 * Records the histories that replay.test.ts replays, from a running local platform (`npm start`):
 * `node services/executions/test/record-histories.mjs`. Record anew only together with a `patched` change.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Client, Connection } from "@temporalio/client";
import proto from "@temporalio/proto";

const { History } = proto.temporal.api.history.v1;
const FOLDER = fileURLToPath(new URL("fixtures/histories/", import.meta.url));
const local = JSON.parse(readFileSync(new URL("../../../.nodeloom/local.json", import.meta.url), "utf8"));
const key = local.accounts.business.apiKey;

const api = async (method, path, body) => {
  const response = await fetch(local.baseUrl + path, {
    method,
    headers: { "x-api-key": key, "content-type": "application/json" },
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
const video = (id, sandbox) => node(id, "generate-video", { model: "sandbox-video", inputs: { prompt: "a loom", seconds: 1, sandbox } });

const KINDS = {
  instant: { nodes: [node("box", "text-box", { text: "hello" }), out], edges: [edge("box.text", "out.text")] },
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
  "http-request": {
    nodes: [node("get", "http-request", { url: `${local.sandboxUrl}/healthz` }), out],
    edges: [edge("get.status", "out.code")],
  },
  "failed-with-siblings": {
    nodes: [video("bad", { latencyMs: 50, fail: "job" }), video("slow", { latencyMs: 60_000 }), out],
    edges: [edge("slow.video", "out.videos")],
  },
  cancelled: { nodes: [video("v", { latencyMs: 60_000 }), out], edges: [edge("v.video", "out.videos")], cancel: true },
};

const connection = await Connection.connect({ address: local.temporalAddress });
const client = new Client({ connection });
for (const [name, { cancel, ...graph }] of Object.entries(KINDS)) {
  const { body } = await api("POST", "/api/workflows", { name: `replay ${name}`, ...graph });
  const run = await api("POST", `/api/workflows/${body.slug}/run${cancel ? "?async=true" : ""}`, { inputs: {} });
  if (cancel) await api("POST", `/api/executions/${run.id}/cancel`);
  const handle = client.workflow.getHandle(run.id);
  await handle.result();
  writeFileSync(`${FOLDER}${name}.binpb`, History.encode(await handle.fetchHistory()).finish());
  await api("DELETE", `/api/workflows/${body.slug}`).catch(() => undefined);
  console.log(name, run.status, run.id);
}
await connection.close();
