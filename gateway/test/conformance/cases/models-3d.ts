import assert from "node:assert/strict";
import type { Answer } from "../../e2e/support/client";
import { inSection, type Case } from "../case";
import { answers, is, pick, refuses } from "../check";
import type { Context } from "../context";
import { edge, node, runGraph } from "../graphs";
import { send } from "./media";

/** 3D models: GLB files as values. */

const models3d = inSection("D12");

const JSON_CHUNK = 0x4e4f534a;

/** A GLB file with an empty scene, or with a given description. */
const glbOf = (gltf: object = { asset: { version: "2.0" }, scenes: [{ nodes: [] }] }): Buffer => {
  const text = JSON.stringify(gltf);
  const json = Buffer.from(text.padEnd(Math.ceil(text.length / 4) * 4));
  const header = Buffer.alloc(20);
  header.write("glTF");
  for (const [index, value] of [2, header.length + json.length, json.length, JSON_CHUNK].entries())
    header.writeUInt32LE(value, 4 + 4 * index);
  return Buffer.concat([header, json]);
};

const user = (ctx: Context) => ctx.shared("enterprise", "models-3d");
const upload = async (ctx: Context, bytes: Buffer): Promise<Answer> =>
  send(ctx, "/api/media", { "x-api-key": (await user(ctx)).key, "content-type": "model/gltf-binary" }, bytes);

const out = node("out", "response-output");
const stored = (ctx: Context) => ({ contentType: "model/gltf-binary", url: is.url(`${ctx.baseUrl}/media/`) });
const field = node("in", "request-input", { fields: [{ name: "model", type: "model3d_upload", label: "Model" }] });

export const model3dCases: Case[] = [
  models3d("a GLB file is uploaded, is a workflow's input, and comes out under `models3d`, byte for byte", async (ctx) => {
    const bytes = glbOf();
    const file = answers(await upload(ctx, bytes), 201, stored(ctx));
    const graph = { nodes: [field, out], edges: [edge("in.model", "out.models3d")] };
    const answer = answers(await runGraph(await user(ctx), graph, { model: pick<string>(file, "id") }), 200, {
      result: { models3d: [{ url: is.url(`${ctx.baseUrl}/media/`) }] },
    });
    const response = await fetch(pick<string>(answer, "result.models3d.0.url"));
    assert.equal(response.headers.get("content-type"), "model/gltf-binary");
    assert.ok(Buffer.from(await response.arrayBuffer()).equals(bytes));
  }),
  models3d("a GLB file in the answer of an HTTP node is a file", async (ctx) => {
    const inbox = ctx.receiver!.inbox((response) => void response.setHeader("content-type", "application/octet-stream").end(glbOf()));
    const graph = { nodes: [node("web", "http-request", { url: inbox.url }), out], edges: [edge("web.file", "out.models3d")] };
    answers(await runGraph(await user(ctx), graph), 200, { result: { models3d: [{ url: is.url(`${ctx.baseUrl}/media/`) }] } });
  }),
  models3d("a GLB file that is truncated, or that loads other files, is refused before it is stored", async (ctx) => {
    const foreign = glbOf({ asset: { version: "2.0" }, images: [{ uri: "https://example.com/wood.png" }] });
    for (const [bytes, problem] of [
      [glbOf().subarray(0, -4), /truncated/],
      [foreign, /refers to another file/],
    ] as const) {
      const refusal = refuses(await upload(ctx, bytes), 415, "UNSUPPORTED_MEDIA_TYPE");
      assert.match(pick<string>(refusal, "error"), problem);
    }
  }),
  models3d("a picture isn't a 3D model: neither as an input nor on an edge", async (ctx) => {
    const own = await user(ctx);
    const asInput = { nodes: [field, out], edges: [edge("in.model", "out.models3d")] };
    refuses(await runGraph(own, asInput, { model: "data:image/png;base64,iVBORw0KGgo=" }), 400, "INVALID_INPUTS");
    const picture = node("pic", "generate-image", { model: "sandbox-image-fast", inputs: { prompt: "a loom" } });
    const onEdge = { nodes: [picture, out], edges: [edge("pic.image", "out.models3d")] };
    const refusal = refuses(await runGraph(own, onEdge), 422, "WORKFLOW_INVALID");
    const [issue] = pick<{ code: string }[]>(refusal, "issues");
    assert.equal(issue!.code, "TYPE_MISMATCH");
  }),
];
