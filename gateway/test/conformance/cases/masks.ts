import assert from "node:assert/strict";
import sharp from "sharp";
import { inSection, type Case } from "../case";
import { answers, is, pick, refuses } from "../check";
import type { Context } from "../context";
import { edge, node, runGraph } from "../graphs";

/** Masks: selections of parts of an image. */

const masks = inSection("D34");

/** Size of the pictures of sandbox-image-fast. */
const SIDE = 256;
const LEFT_HALF = { tool: "rectangle", x: 0, y: 0, width: 0.5, height: 1 };
/** Positions of the bit depth and the colour type in a PNG. Type 0 is one channel without transparency. */
const [DEPTH, COLOUR_TYPE] = [24, 25];

const user = (ctx: Context) => ctx.shared("enterprise", "masks");
const picture = node("pic", "generate-image", { model: "sandbox-image-fast", inputs: { prompt: "a loom" } });
const drawing = node("draw", "media", { operation: "mask-draw", shapes: [LEFT_HALF] });
const out = node("out", "response-output");

export const maskCases: Case[] = [
  masks("a drawn mask is a one-channel PNG of its image's size", async (ctx) => {
    const edges = [edge("pic.image", "draw.image"), edge("draw.mask", "out.mask")];
    const answer = answers(await runGraph(await user(ctx), { nodes: [picture, drawing, out], edges }), 200, {
      result: { mask: { url: is.url(`${ctx.baseUrl}/media/`), contentType: "image/png", width: SIDE, height: SIDE } },
    });
    const bytes = Buffer.from(await (await fetch(pick<string>(answer, "result.mask.url"))).arrayBuffer());
    assert.deepEqual([bytes[DEPTH], bytes[COLOUR_TYPE]], [8, 0]);
  }),
  masks("a mask flows into ports for images; an image isn't a mask before an operation says what it selects", async (ctx) => {
    const [own, grow] = [await user(ctx), node("grow", "media", { operation: "mask-grow" })];
    const small = node("small", "media", { operation: "image-resize", width: 16 });
    const intoImage = [edge("pic.image", "draw.image"), edge("draw.mask", "small.image"), edge("small.image", "out.images")];
    answers(await runGraph(own, { nodes: [picture, drawing, small, out], edges: intoImage }), 200);
    const direct = { nodes: [picture, grow, out], edges: [edge("pic.image", "grow.mask"), edge("grow.mask", "out.mask")] };
    const refusal = refuses(await runGraph(own, direct), 422, "WORKFLOW_INVALID");
    const [issue] = pick<{ nodeId: string; code: string; message: string }[]>(refusal, "issues");
    assert.deepEqual([issue!.nodeId, issue!.code], ["grow", "TYPE_MISMATCH"]);
    assert.match(issue!.message, /mask-from-image/);
    const brightness = node("read", "media", { operation: "mask-from-image", by: "brightness" });
    const throughNode = [edge("pic.image", "read.image"), edge("read.mask", "grow.mask"), edge("grow.mask", "out.mask")];
    answers(await runGraph(own, { nodes: [picture, brightness, grow, out], edges: throughNode }), 200);
  }),
  masks("a model draws inside a mask and leaves the other pixels alone; a model without masks rejects one", async (ctx) => {
    const own = await user(ctx);
    const inputs = { prompt: "a kite" };
    const fill = node("fill", "generate-image", { model: "sandbox-image", inputs });
    const keep = node("keep", "media", { operation: "mask-invert" });
    const [before, after] = ["before", "after"].map((id) => node(id, "media", { operation: "image-mask" }));
    const graph = {
      nodes: [picture, drawing, fill, keep, before, after, out],
      edges: [
        ...[
          edge("pic.image", "draw.image"),
          edge("pic.image", "fill.image"),
          edge("draw.mask", "fill.mask"),
          edge("draw.mask", "keep.mask"),
        ],
        ...[edge("pic.image", "before.image"), edge("keep.mask", "before.mask"), edge("before.image", "out.before")],
        ...[edge("fill.image", "after.image"), edge("keep.mask", "after.mask"), edge("after.image", "out.after")],
        ...[edge("pic.image", "out.whole"), edge("fill.image", "out.filled")],
      ],
    };
    const answer = answers(await runGraph(own, graph), 200, { result: { filled: { width: SIDE, height: SIDE } } });
    const pixels = async (name: string): Promise<Buffer> =>
      sharp(Buffer.from(await (await fetch(pick<string>(answer, `result.${name}.url`))).arrayBuffer()))
        .flatten({ background: "#000000" })
        .raw()
        .toBuffer();
    assert.ok((await pixels("before")).equals(await pixels("after")), "pixels outside of the mask changed");
    assert.ok(!(await pixels("whole")).equals(await pixels("filled")), "nothing was drawn inside the mask");
    const fast = node("fill", "generate-image", { model: "sandbox-image-fast", inputs });
    const refusal = refuses(
      await runGraph(own, { ...graph, nodes: [picture, drawing, fast, keep, before, after, out] }),
      422,
      "WORKFLOW_INVALID",
    );
    const [issue] = pick<{ nodeId: string; code: string; message: string }[]>(refusal, "issues");
    assert.deepEqual([issue!.nodeId, issue!.code], ["fill", "UNKNOWN_INPUT"]);
    assert.match(issue!.message, /mask/);
  }),
  masks("a caller sends a mask as a file; it is scaled to the image, and other values are rejected", async (ctx) => {
    const own = await user(ctx);
    const edges = [edge("pic.image", "draw.image"), edge("draw.mask", "out.mask")];
    const drawnReply = answers(await runGraph(own, { nodes: [picture, drawing, out], edges }), 200);
    const fields = [{ name: "area", type: "mask_upload", label: "Area", required: true }];
    const wide = node("wide", "media", { operation: "image-resize", width: 2 * SIDE });
    const graph = {
      nodes: [node("in", "request-input", { fields }), picture, wide, node("cut", "media", { operation: "image-mask" }), out],
      edges: [edge("pic.image", "wide.image"), edge("wide.image", "cut.image"), edge("in.area", "cut.mask"), edge("cut.image", "out.cut")],
    };
    answers(await runGraph(own, graph, { area: pick<string>(drawnReply, "result.mask.url") }), 200, {
      result: { cut: { contentType: "image/png", width: 2 * SIDE, height: 2 * SIDE } },
    });
    const sound = `data:audio/wav;base64,${Buffer.alloc(64).toString("base64")}`;
    for (const area of [5, "no file", sound]) refuses(await runGraph(own, graph, { area }), 400, "INVALID_INPUTS");
    refuses(await runGraph(own, graph, {}), 400, "INVALID_INPUTS");
  }),
];
