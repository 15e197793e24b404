import assert from "node:assert/strict";
import type { Answer } from "../../../../test-support/client";
import { inSection, type Case } from "../case";
import { answers, is, pick, refuses } from "../check";
import type { Context } from "../context";
import { edge, node, runGraph, save } from "../graphs";
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

/** A picture of 1 × 1 pixel. */
const PIXEL = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const photo = node("in", "request-input", { fields: [{ name: "photo", type: "image_upload", label: "Photo" }] });
const pictureTo3d = (model: string) => ({
  nodes: [photo, node("form", "generate-3d", { model }), out],
  edges: [edge("in.photo", "form.image"), edge("form.model3d", "out.models3d")],
});

/** Asserts that an address has a whole GLB file, and returns it. */
const glbAt = async (url: string): Promise<Buffer> => {
  const response = await fetch(url);
  assert.equal(response.headers.get("content-type"), "model/gltf-binary");
  const bytes = Buffer.from(await response.arrayBuffer());
  assert.deepEqual([bytes.toString("latin1", 0, 4), bytes.readUInt32LE(4), bytes.readUInt32LE(8)], ["glTF", 2, bytes.length]);
  return bytes;
};

export const model3dCases: Case[] = [
  models3d("a picture becomes a 3D model that downloads, at the price that was quoted", async (ctx) => {
    const own = await user(ctx);
    for (const model of ["sandbox-3d", "auto:image-to-3d"]) {
      const slug = await save(own, pictureTo3d(model));
      const quote = answers(await own.post(`/api/workflows/${slug}/quote`, { inputs: { photo: PIXEL } }), 200, {
        estimatedCreditCost: is.positive,
      });
      const inputs = { photo: PIXEL };
      const answer = answers(await own.post(`/api/workflows/${slug}/run`, { inputs }), 200, {
        cost: is.near(pick<number>(quote, "estimatedCreditCost")),
        result: { models3d: [{ url: is.url(`${ctx.baseUrl}/media/`) }] },
      });
      await glbAt(pick(answer, "result.models3d.0.url"));
    }
  }),
  models3d("a run of a 3D model gives the same GLB file for the same prompt, and one for each item of a list", async (ctx) => {
    const own = await user(ctx);
    const direct = answers(await own.post("/api/models/sandbox-3d/run", { inputs: { prompt: "a vase" } }), 200);
    const words = node("words", "list", { items: ["a vase", "a bowl"] });
    const graph = {
      nodes: [words, node("form", "generate-3d", { model: "sandbox-3d" }), out],
      edges: [edge("words.items", "form.prompt"), edge("form.model3d", "out.models3d")],
    };
    const listed = answers(await runGraph(own, graph), 200, { result: { models3d: [{ url: is.text }, { url: is.text }] } });
    const [vase, first, second] = await Promise.all(
      [pick<string>(direct, "result.models3d.0.url"), ...[0, 1].map((index) => pick<string>(listed, `result.models3d.${index}.url`))].map(
        glbAt,
      ),
    );
    assert.ok(vase!.equals(first!) && !vase!.equals(second!));
  }),
  models3d("a 3D model needs a prompt or a picture, and a run without both is refused before it starts", async (ctx) => {
    const own = await user(ctx);
    const direct = refuses(await own.post("/api/models/sandbox-3d/run", { inputs: {} }), 400, "INVALID_INPUTS");
    assert.match(pick(direct, "error"), /needs prompt or image/);
    const empty = { nodes: [node("form", "generate-3d", { model: "sandbox-3d" }), out], edges: [edge("form.model3d", "out.models3d")] };
    const refusal = refuses(await runGraph(own, empty), 422, "WORKFLOW_INVALID", { issues: [{ nodeId: "form", code: "INPUT_INVALID" }] });
    assert.match(pick(refusal, "issues.0.message"), /^needs prompt or image$/);
  }),
  models3d("a model of pictures isn't one of 3D models", async (ctx) => {
    const answer = await runGraph(await user(ctx), pictureTo3d("sandbox-image"), { photo: PIXEL });
    refuses(answer, 422, "WORKFLOW_INVALID", { issues: [{ nodeId: "form", code: "MODEL_UNFIT" }] });
  }),
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
  models3d(
    "a GLB file in the answer of an HTTP node is a file",
    async (ctx) => {
      const inbox = ctx.receiver!.inbox((response) => void response.setHeader("content-type", "application/octet-stream").end(glbOf()));
      const graph = { nodes: [node("web", "http-request", { url: inbox.url }), out], edges: [edge("web.file", "out.models3d")] };
      answers(await runGraph(await user(ctx), graph), 200, { result: { models3d: [{ url: is.url(`${ctx.baseUrl}/media/`) }] } });
    },
    { needs: ["receiver"] },
  ),
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
