import assert from "node:assert/strict";
import { call, type Answer } from "../../../../test-support/client";
import { inSection, type Case } from "../case";
import { answers, exactly, is, pick, refuses } from "../check";
import type { Context } from "../context";
import { edge, node, runGraph, save } from "../graphs";
import { send } from "./media";

/** Vector images (SVG): they are pictures that can't run or load anything. */

const vectors = inSection("D12");

const user = (ctx: Context) => ctx.shared("enterprise", "vectors");
const upload = async (ctx: Context, content: string): Promise<Answer> =>
  send(ctx, "/api/media", { "x-api-key": (await user(ctx)).key, "content-type": "text/html" }, Buffer.from(content));

const svgOf = (content: string): string => `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 20">${content}</svg>`;
const SHAPE = '<rect width="20" height="20" fill="#ff0000"/>';

const drawing = (prompt: string) => node("draw", "generate-image", { model: "auto:vector", inputs: { prompt } });
const out = node("out", "response-output");

/** Reads a vector, and asserts that browsers save it instead of opening it. */
const vectorAt = async (url: string): Promise<string> => {
  assert.match(new URL(url).pathname, /\.svg$/);
  const { headers, ...response } = await fetch(url).then(async (answer) => ({ headers: answer.headers, text: await answer.text() }));
  const names = ["content-type", "content-disposition", "x-content-type-options", "content-security-policy"];
  assert.deepEqual(
    names.map((name) => headers.get(name)),
    ["image/svg+xml", "attachment", "nosniff", "sandbox; default-src 'none'"],
  );
  return response.text;
};

/** Content that runs, loads or multiplies. It is removed, or the file is refused. */
const HOSTILE: readonly (readonly [content: string, isRefused?: true])[] = [
  ["<script>alert(1)</script>"],
  ['<g onload="alert(1)"><set attributeName="onclick" to="alert(1)"/></g>'],
  ['<foreignObject><iframe xmlns="http://www.w3.org/1999/xhtml" src="javascript:alert(1)"/></foreignObject>'],
  ['<a href="javascript:alert(1)"><text>evil</text></a>'],
  ['<image href="https://evil.test/a.png"/><use href="https://evil.test/a.svg#a"/>'],
  ["<style>@import url(https://evil.test/a.css);rect{fill:url(https://evil.test/a)}</style>"],
  ['<rect style="fill:url(\'https://evil.test\')"/><image href="data:image/svg+xml;base64,PHN2Zy8+"/>'],
  ['<g id="a"><use href="#b"/></g><g id="b"><use href="#a"/></g>', true],
  [
    `<g id="g0">${SHAPE}</g>${Array.from({ length: 7 }, (_, n) => `<g id="g${n + 1}">${`<use href="#g${n}"/>`.repeat(10)}</g>`).join("")}`,
    true,
  ],
  ["<g>".repeat(100) + "</g>".repeat(100), true],
  ["<g/>".repeat(20_001), true],
  ["&undefined;", true],
];

export const vectorCases: Case[] = [
  vectors("a model draws a vector at the price that was quoted, and its file is marked as generated", async (ctx) => {
    const own = await user(ctx);
    const slug = await save(own, { nodes: [drawing("a boat"), out], edges: [edge("draw.image", "out.images")] });
    const quote = answers(await own.post(`/api/workflows/${slug}/quote`, { inputs: {} }), 200, { estimatedCreditCost: is.positive });
    const run = answers(await own.post(`/api/workflows/${slug}/run`, { inputs: {} }), 200, {
      cost: is.near(pick<number>(quote, "estimatedCreditCost")),
    });
    const direct = answers(await own.post("/api/models/sandbox-vector/run", { inputs: { prompt: "a boat" } }), 200);
    const [svg, sameSvg] = [await vectorAt(pick(run, "result.images.0.url")), await vectorAt(pick(direct, "result.images.0.url"))];
    assert.equal(svg, sameSvg);
    assert.match(svg, /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg"/);
    assert.match(svg, /DigitalSourceType="[^"]*algorithmicMedia"/);
    const rows = pick<{ id: string; url: string }[]>(answers(await own.get("/api/media"), 200), "rows");
    const { id } = rows.find(({ url }) => new URL(url).pathname === new URL(pick<string>(direct, "result.images.0.url")).pathname)!;
    answers(await own.get(`/api/media/${id}/provenance`), 200, { model: "sandbox-vector", signed: false, unsignedReason: "format" });
    const verification = await send(ctx, "/api/verify", { "content-type": "image/svg+xml" }, Buffer.from(svg));
    const digitalSourceType = is.text;
    answers(
      verification,
      200,
      exactly({ contentType: "image/svg+xml", bytes: Buffer.byteLength(svg), supported: false, digitalSourceType, credentials: null }),
    );
  }),
  vectors("what is behind a vector gets it as a picture: operations, models and thumbnails", async (ctx) => {
    const own = await user(ctx);
    const graph = {
      nodes: [
        drawing("a kite"),
        node("small", "media", { operation: "image-resize", width: 64 }),
        node("copy", "generate-image", { model: "sandbox-image-fast", inputs: { prompt: "a kite" } }),
        node("relief", "generate-3d", { model: "sandbox-3d" }),
        out,
      ],
      edges: [
        edge("draw.image", "small.image"),
        edge("draw.image", "copy.image"),
        edge("draw.image", "relief.image"),
        edge("small.image", "out.images"),
        edge("copy.image", "out.images"),
        edge("draw.image", "out.images"),
        edge("relief.model3d", "out.models3d"),
      ],
    };
    const answer = answers(await runGraph(own, graph), 200, { result: { models3d: [{ url: is.text }] } });
    const urls = pick<{ url: string }[]>(answer, "result.images").map(({ url }) => url);
    assert.deepEqual(
      urls.map((url) => new URL(url).pathname.split(".").at(-1)),
      ["png", "png", "svg"],
    );
    const thumbnail = await fetch(`${urls[2]!}&w=96`);
    assert.deepEqual([thumbnail.status, thumbnail.headers.get("content-type")], [200, "image/webp"]);
  }),
  vectors(
    "a vector at an address of another server reaches a model as a picture, and a hostile one is refused",
    async (ctx) => {
      const own = await user(ctx);
      const at = (content: string): string =>
        ctx.receiver!.inbox((response) => void response.writeHead(200, { "content-type": "image/svg+xml" }).end(svgOf(content))).url;
      const draw = (image: string) => own.post("/api/models/sandbox-image-fast/run", { inputs: { prompt: "a kite", image } });
      answers(await draw(at(SHAPE)), 200, { result: { images: [{ url: is.text }] } });
      const refusal = await draw(at("&undefined;" + SHAPE));
      assert.match(pick<string>(refusal.body, "error"), /sandbox-image-fast: input image: /);
    },
    { needs: ["receiver"] },
  ),
  vectors("an uploaded vector is measured, sanitized, and stays the same when it is uploaded again", async (ctx) => {
    const stored = answers(await upload(ctx, svgOf(SHAPE)), 201, { contentType: "image/svg+xml", width: 40, height: 20 });
    const svg = await vectorAt(pick(stored, "url"));
    assert.ok(svg.includes(SHAPE));
    assert.equal(await vectorAt(pick(answers(await upload(ctx, svg), 201), "url")), svg);
  }),
  ...HOSTILE.map(([content, isRefused], index) =>
    vectors(`a hostile vector can't run, load or multiply anything (${index + 1})`, async (ctx) => {
      const answer = await upload(ctx, svgOf(content + SHAPE));
      if (isRefused) return void refuses(answer, 415, "UNSUPPORTED_MEDIA_TYPE");
      const svg = await vectorAt(pick(answers(answer, 201), "url"));
      assert.ok(svg.includes(SHAPE));
      assert.doesNotMatch(svg.replace("<text>evil</text>", ""), /script|alert|evil|import|foreign|iframe|data:|onload|style/i);
    }),
  ),
  vectors("a vector with entities is refused, and the error says why", async (ctx) => {
    const entities = '<!DOCTYPE svg [<!ENTITY a SYSTEM "file:///etc/passwd">]>';
    const refusal = refuses(await upload(ctx, entities + svgOf(SHAPE)), 415, "UNSUPPORTED_MEDIA_TYPE");
    assert.match(pick<string>(refusal, "error"), /defines entities/);
    const { key } = await user(ctx);
    const run = { inputs: { prompt: "a boat", image: `data:image/svg+xml;base64,${Buffer.from(svgOf("<script/>")).toString("base64")}` } };
    const failed = await call(ctx.baseUrl, "POST", "/api/models/sandbox-image/run", { headers: { "x-api-key": key }, body: run });
    assert.ok(failed.status >= 400, failed.text);
  }),
];
