import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { call, type Answer } from "../../../../test-support/client";
import { inSection, type Case } from "../case";
import { answers, exactly, fits, is, pick, refuses } from "../check";
import type { Actor, Context } from "../context";
import { echo, edge, node, picture, runGraph, runModel, save } from "../graphs";

const media = inSection("D12");
const sizes = inSection("D13");

const MEGABYTE = 1024 * 1024;
const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");

export const send = async (ctx: Context, path: string, headers: Record<string, string>, bytes: Buffer): Promise<Answer> => {
  const response = await fetch(`${ctx.baseUrl}${path}`, { method: "POST", headers, body: new Uint8Array(bytes) });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: (text === "" ? {} : JSON.parse(text)) as Answer["body"] };
};
const upload = (ctx: Context, headers: Record<string, string>, bytes: Buffer): Promise<Answer> => send(ctx, "/api/media", headers, bytes);
const verify = (ctx: Context, bytes: Buffer): Promise<Answer> => send(ctx, "/api/verify", { "content-type": "image/png" }, bytes);
/** A unique picture: the pixels, then bytes that viewers ignore. */
export const freshPng = (): Buffer => Buffer.concat([PNG, randomBytes(2_000)]);
const stored = async (ctx: Context, bytes: Buffer, type = "image/png"): Promise<{ id: string; url: string; contentType: string }> => {
  const { key } = await ctx.shared("business", "media");
  const answer = answers(await upload(ctx, { "x-api-key": key, "content-type": type }, bytes), 201);
  return answer.body as unknown as { id: string; url: string; contentType: string };
};

const files: Case[] = [
  media("an upload returns id, URL, type and size", async (ctx) => {
    const bytes = freshPng();
    const { key } = await ctx.shared("business", "media");
    const answer = await upload(ctx, { "x-api-key": key, "content-type": "image/png" }, bytes);
    const size = { bytes: bytes.length, width: 1, height: 1 };
    answers(answer, 201, exactly({ id: is.text, url: is.url(`${ctx.baseUrl}/media/`), contentType: "image/png", ...size }));
  }),
  media("a run's output is marked as generated, with its origin", async (ctx) => {
    const maker = await ctx.shared("business", "media");
    const prompt = `a boat ${randomBytes(8).toString("hex")}`;
    const created = answers(await maker.post("/api/models/sandbox-image/run", { inputs: { prompt }, provenance: "full" }), 200);
    const url = pick<string>(created, "result.images.0.url");
    const bytes = Buffer.from(await (await fetch(url)).arrayBuffer()).toString("latin1");
    assert.match(bytes, /Iptc4xmpExt:DigitalSourceType="[^"]*algorithmicMedia"/);
    const { rows } = answers(await maker.get("/api/media"), 200).body as unknown as { rows: { id: string; url: string; model: string }[] };
    const { id, model } = rows.find((row) => row.url === url)!;
    assert.equal(model, "sandbox-image");
    answers(await maker.get(`/api/media/${id}/provenance`), 200, {
      ...{ id, model: "sandbox-image", parents: [], ancestors: [], truncated: false },
      ...{ inputs: { prompt }, digitalSourceType: is.text, executionId: is.text, signed: true, unsignedReason: null },
    });
    const other = await ctx.shared("pro", "readers");
    refuses(await other.get(`/api/media/${id}/provenance`), 404, "NOT_FOUND");
  }),
  media("files are found by words of their prompt, and a public one hides its prompt from others", async (ctx) => {
    const maker = await ctx.shared("business", "media");
    const word = `w${randomBytes(8).toString("hex")}`;
    const created = answers(await maker.post("/api/models/sandbox-image/run", { inputs: { prompt: `A Red ${word}` } }), 200);
    const url = pick<string>(created, "result.images.0.url");
    const find = async (q: string, from = "") => {
      const answer = answers(await maker.get(`/api/media?q=${q}${from && `&from=${from}`}`), 200);
      return (answer.body as unknown as { rows: { id: string; url: string; title: string }[] }).rows;
    };
    const [file, ...others] = await find(`red+${word.slice(0, 12)}`);
    assert.deepEqual([file?.url, file?.title, others], [url, `A Red ${word}`, []]);
    assert.equal((await find(`sandbox+${word}`)).length, 1);
    assert.deepEqual(await find(`blue+${word}`), []);
    assert.deepEqual(await find(word, new Date(Date.now() + 60_000).toISOString()), []);
    refuses(await maker.get(`/api/media?q=${"q".repeat(201)}`), 400, "INVALID_REQUEST");
    const other = await ctx.shared("pro", "readers");
    answers(await other.get(`/api/media?q=${word}`), 200, { rows: [] });
    answers(await maker.session.patch(`/api/media/${file!.id}`, { public: true }), 200, { title: `A Red ${word}` });
    answers(await other.get(`/api/media/${file!.id}`), 200, { title: null });
  }),
  media("parallel calls of a workflow keep the prompts and sources of their files", async (ctx) => {
    const maker = await ctx.shared("business", "media");
    const words = Array.from({ length: 2 }, () => `w${randomBytes(8).toString("hex")}`);
    const source = await stored(ctx, freshPng());
    const pictures = words.map((word, index) =>
      node(`p${index}`, "generate-image", { model: "sandbox-image", inputs: { prompt: `A ${word}`, image: source.id } }),
    );
    const edges = words.map((_, index) => edge(`p${index}.image`, "out.images"));
    const slug = await save(maker, { name: "Pair", nodes: [...pictures, node("out", "response-output")], edges });
    answers(await maker.post(`/api/workflows/${slug}/run`, { inputs: {}, provenance: "full" }), 200);
    for (const word of words) {
      const { rows } = answers(await maker.get(`/api/media?q=${word}`), 200).body as unknown as { rows: { id: string; title: string }[] };
      assert.deepEqual(
        rows.map(({ title }) => title),
        [`A ${word}`],
      );
      const origin = { parents: [source.id], inputs: { prompt: `A ${word}` } };
      answers(await maker.get(`/api/media/${rows[0]!.id}/provenance`), 200, origin);
    }
  }),
  media("a picture of a run is signed, and anyone can verify it; a changed byte is detected", async (ctx) => {
    const maker = await ctx.shared("business", "media");
    const created = answers(
      await maker.post("/api/models/sandbox-image/run", { inputs: { prompt: `a kite ${randomBytes(8).toString("hex")}` } }),
      200,
    );
    const bytes = Buffer.from(await (await fetch(pick<string>(created, "result.images.0.url"))).arrayBuffer());
    const action = { action: "c2pa.created", software: "sandbox-image", digitalSourceType: is.text };
    const credentials = { whole: true, ours: true, problems: [], generator: "Nodeloom", actions: [action], sources: [] };
    answers(await verify(ctx, bytes), 200, { contentType: is.text, bytes: bytes.length, supported: true, credentials });
    bytes[bytes.length - 20]! ^= 1;
    answers(await verify(ctx, bytes), 200, { credentials: { whole: false, ours: false, problems: is.list } });
  }),
  media("verification needs no account, and reports files without credentials and with invalid ones clearly", async (ctx) => {
    answers(
      await verify(ctx, freshPng()),
      200,
      exactly({ ...{ contentType: "image/png", bytes: is.number, supported: true }, digitalSourceType: null, credentials: null }),
    );
    refuses(await verify(ctx, Buffer.alloc(0)), 400, "INVALID_REQUEST");
    refuses(await verify(ctx, Buffer.from("a text")), 415, "UNSUPPORTED_MEDIA_TYPE");
    refuses(await verify(ctx, Buffer.concat([PNG, Buffer.alloc(32 * MEGABYTE)])), 413, "PAYLOAD_TOO_LARGE");
  }),
  media("a thumbnail's width is a whole number up to 2048", async (ctx) => {
    const { url } = await stored(ctx, freshPng());
    for (const w of ["0", "-1", "2049", "wide", ""]) assert.equal((await fetch(`${url}?w=${w}`)).status, 400, w);
  }),
  media("a file can be uploaded in a form", async (ctx) => {
    const bytes = freshPng();
    const { key } = await ctx.shared("business", "media");
    const body = new FormData();
    body.append("file", new Blob([new Uint8Array(bytes)], { type: "image/png" }), "picture.png");
    const response = await fetch(`${ctx.baseUrl}/api/media`, { method: "POST", headers: { "x-api-key": key }, body });
    assert.equal(response.status, 201);
    fits(await response.json(), { contentType: "image/png", bytes: bytes.length });
  }),
  media("a file is returned as it was uploaded, with its type, an ETag and nosniff", async (ctx) => {
    const bytes = freshPng();
    const { url } = await stored(ctx, bytes);
    const response = await fetch(url);
    assert.equal(response.status, 200);
    assert.ok(Buffer.from(await response.arrayBuffer()).equals(bytes));
    assert.equal(response.headers.get("content-type"), "image/png");
    assert.equal(response.headers.get("x-content-type-options"), "nosniff");
    assert.ok(response.headers.get("etag"));
  }),
  media("a range of a file can be read", async (ctx) => {
    const bytes = freshPng();
    const { url } = await stored(ctx, bytes);
    const response = await fetch(url, { headers: { range: "bytes=10-19" } });
    assert.equal(response.status, 206);
    assert.equal(response.headers.get("content-range"), `bytes 10-19/${bytes.length}`);
    assert.ok(Buffer.from(await response.arrayBuffer()).equals(bytes.subarray(10, 20)));
  }),
  media("a range beyond the end is 416, in the common error format", async (ctx) => {
    const { url } = await stored(ctx, freshPng());
    const range = { headers: { range: "bytes=999999-" } };
    const { pathname, search } = new URL(url);
    refuses(await call(ctx.baseUrl, "GET", pathname + search, range), 416, "INVALID_REQUEST");
  }),
  media("a file that a client already has is 304", async (ctx) => {
    const { url } = await stored(ctx, freshPng());
    const etag = (await fetch(url, { method: "HEAD" })).headers.get("etag") ?? "";
    assert.equal((await fetch(url, { headers: { "if-none-match": etag } })).status, 304);
  }),
  media("the type is detected from the bytes, not taken from the client", async (ctx) => {
    assert.equal((await stored(ctx, freshPng(), "text/html")).contentType, "image/png");
  }),
  media("a JSON body isn't stored as a file; the error says how to send one", async (ctx) => {
    const { key } = await ctx.shared("business", "media");
    for (const type of ["application/json", "application/json; charset=utf-8"]) {
      const body = Buffer.from(JSON.stringify({ url: "https://example.com/cat.png" }));
      const answer = refuses(await upload(ctx, { "x-api-key": key, "content-type": type }, body), 415, "UNSUPPORTED_MEDIA_TYPE");
      assert.match(pick(answer, "error"), /bytes as the body.*multipart\/form-data/);
    }
  }),
  media("content that a browser would execute is never served with its type", async (ctx) => {
    const { key } = await ctx.shared("business", "media");
    for (const content of ["<html><script>alert(1)</script></html>", '<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>']) {
      const answer = await upload(ctx, { "x-api-key": key, "content-type": "text/html" }, Buffer.from(content));
      if (answer.status !== 201) {
        answers(answer, 415, { code: "UNSUPPORTED_MEDIA_TYPE" });
        continue;
      }
      const type = (await fetch(pick(answer, "url"))).headers.get("content-type") ?? "";
      assert.doesNotMatch(type, /html|svg|xml|javascript/);
    }
  }),
  media("an unknown file is absent", async (ctx) => {
    for (const key of ["nothing.png", "..%2f..%2fetc%2fpasswd", "%00"]) {
      const { status } = await fetch(`${ctx.baseUrl}/media/${key}`);
      assert.ok(status === 404 || status === 400, `${key}: ${status}`);
    }
  }),
  media("uploading needs a caller", async (ctx) => {
    refuses(await upload(ctx, { "content-type": "image/png" }, PNG), 401, "UNAUTHENTICATED");
  }),
  media("an empty upload is rejected", async (ctx) => {
    const { key } = await ctx.shared("business", "media");
    refuses(await upload(ctx, { "x-api-key": key, "content-type": "image/png" }, Buffer.alloc(0)), 400, "INVALID_REQUEST");
  }),
  media("an upload above 100 MB is rejected", async (ctx) => {
    const { key } = await ctx.shared("business", "media");
    const headers = { "x-api-key": key, "content-type": "image/png", "content-length": String(101 * MEGABYTE) };
    // The request is rejected before all bytes are sent, so the connection can be closed.
    const answer = await upload(ctx, headers, Buffer.alloc(101 * MEGABYTE)).catch((error: unknown) => error as Error);
    if (!(answer instanceof Error)) refuses(answer, 413, "PAYLOAD_TOO_LARGE");
  }),
  media("an uploaded file is an input by its id, its URL or as a data URL", async (ctx) => {
    const { id, url } = await stored(ctx, freshPng());
    const user = await ctx.shared("business", "media");
    for (const image of [id, url, `data:image/png;base64,${PNG.toString("base64")}`]) {
      answers(await runModel(user, "sandbox-image-fast", { image, sandbox: { latencyMs: 10 } }), 200, { success: true });
    }
  }),
  media("a media-upload node returns an uploaded file", async (ctx) => {
    const { id } = await stored(ctx, freshPng());
    const graph = {
      nodes: [node("m", "media-upload", { mediaId: id }), node("out", "response-output")],
      edges: [edge("m.media", "out.images")],
    };
    answers(await runGraph(await ctx.shared("business", "media"), graph), 200, {
      result: { images: [{ url: is.url(`${ctx.baseUrl}/media/`) }] },
    });
  }),
  media("a media-upload node with several files returns them in its order", async (ctx) => {
    const user = await ctx.shared("business", "media");
    const files = [await stored(ctx, freshPng()), await stored(ctx, freshPng())];
    const graph = {
      nodes: [node("m", "media-upload", { multiple: true, mediaIds: files.map(({ id }) => id) }), node("out", "response-output")],
      edges: [edge("m.media", "out.images")],
    };
    const { body } = answers(await runGraph(user, graph), 200);
    const { images } = (body as { result: { images: { id: string }[] } }).result;
    assert.deepEqual(
      images.map(({ id }) => id),
      files.map(({ id }) => id),
    );
  }),
  media("the key in a file's address can't be derived from its id", async (ctx) => {
    const { id, url } = await stored(ctx, freshPng());
    assert.ok(!url.includes(id));
    assert.match(new URL(url).pathname, /^\/media\/[0-9a-f]{32}\.png$/);
    assert.equal((await fetch(`${ctx.baseUrl}/media/${id}.png`)).status, 404);
  }),
  media("a template that names a file reveals neither the address nor the file to its readers", async (ctx) => {
    const bytes = freshPng();
    const { id, url } = await stored(ctx, bytes);
    const author = await ctx.shared("business", "media");
    const reader = await ctx.shared("business", "media-reader");
    const fields = [{ name: "photo", type: "image_upload", label: "Photo" }];
    const slug = await save(author, {
      isTemplate: true,
      nodes: [node("in", "request-input", { fields }), node("m", "media-upload", { mediaId: id }), node("out", "response-output")],
      edges: [edge("in.photo", "out.images")],
    });
    const reply = answers(await reader.get(`/api/workflows/${slug}`), 200);
    assert.ok(reply.text.includes(id));
    assert.ok(!reply.text.includes(new URL(url).pathname));
    refuses(await reader.post(`/api/workflows/${slug}/run`, { inputs: { photo: id } }), 400, "INVALID_INPUTS");
    refuses(await reader.delete(`/api/media/${id}`), 404, "NOT_FOUND");
    refuses(await reader.post(`/api/media/${id}/keep`), 404, "NOT_FOUND");
  }),
  media("the caller's files are listed newest first, page by page", async (ctx) => {
    const actor = await ctx.actor({ tier: "pro" });
    const createdIds: string[] = [];
    for (let count = 0; count < 3; count += 1) {
      createdIds.unshift(pick(answers(await upload(ctx, { "x-api-key": actor.key, "content-type": "image/png" }, freshPng()), 201), "id"));
    }
    const row = { url: is.url(`${ctx.baseUrl}/media/`), contentType: "image/png", origin: "upload", kept: true, createdAt: is.time };
    const first = answers(await actor.get("/api/media?limit=2"), 200, {
      rows: createdIds.slice(0, 2).map((id) => ({ id, ...row })),
      nextCursor: is.text,
      usedBytes: 3 * freshPng().length,
      quotaBytes: is.positive,
    });
    const second = await actor.get(`/api/media?limit=2&cursor=${encodeURIComponent(pick(first, "nextCursor"))}`);
    answers(second, 200, { rows: [{ id: createdIds[2] }], nextCursor: null });
    refuses(await actor.get("/api/media?limit=501"), 400, "INVALID_REQUEST");
    refuses(await actor.get("/api/media?cursor=nonsense"), 400, "INVALID_REQUEST");
  }),
  media("a file is deleted at once", async (ctx) => {
    const { id, url } = await stored(ctx, freshPng());
    const actor = await ctx.shared("business", "media");
    answers(await actor.delete(`/api/media/${id}`), 204);
    assert.equal((await fetch(url)).status, 404);
    refuses(await actor.delete(`/api/media/${id}`), 404, "NOT_FOUND");
    const graph = { nodes: [node("m", "media-upload", { mediaId: id })], edges: [] };
    refuses(await runGraph(actor, graph), 422, "WORKFLOW_INVALID");
  }),
  media("a run's output is listed, and can be kept, which counts towards the quota", async (ctx) => {
    const actor = await ctx.actor({ tier: "pro" });
    const slug = await save(actor, picture({ sandbox: { latencyMs: 10 } }));
    answers(await actor.post(`/api/workflows/${slug}/run`, { inputs: {} }), 200);
    const list = answers(await actor.get("/api/media"), 200, { rows: [{ origin: "generated", kept: false }], usedBytes: 0 });
    const { id, bytes } = pick<{ id: string; bytes: number }>(list, "rows.0");
    for (const _ of [1, 2]) answers(await actor.post(`/api/media/${id}/keep`), 200, { id, kept: true });
    answers(await actor.get("/api/media"), 200, { usedBytes: bytes });
  }),
  media("uploading and deleting need workflow:write, listing workflow:read", async (ctx) => {
    const actor = await ctx.shared("business", "media");
    const reader = await actor.withKey(["workflow:read"]);
    const headers = { "x-api-key": reader.key, "content-type": "image/png" };
    answers(await upload(ctx, headers, PNG), 403, { code: "CAPABILITY_DENIED", required: "workflow:write" });
    answers(await reader.delete("/api/media/anything"), 403, { code: "CAPABILITY_DENIED", required: "workflow:write" });
    answers(await reader.get("/api/media"), 200, { rows: is.list });
    const runner = await actor.withKey(["workflow:run"]);
    answers(await runner.get("/api/media"), 403, { code: "CAPABILITY_DENIED", required: "workflow:read" });
  }),
  media("an unapproved account can't upload", async (ctx) => {
    const actor = await ctx.actor({ tier: "free", approved: false, noKey: true });
    const headers = { cookie: actor.cookie, origin: ctx.baseUrl, "content-type": "image/png" };
    refuses(await upload(ctx, headers, PNG), 403, "ACCOUNT_NOT_APPROVED");
    answers(await actor.session.get("/api/media"), 200, { rows: [], usedBytes: 0 });
  }),
  ...(
    [
      ["sandbox-image-fast", "images", /^image\/png/],
      ["sandbox-video", "videos", /^(video\/mp4|image\/gif)/],
      ["sandbox-speech", "audios", /^audio\/wav/],
    ] as const
  ).map(([model, member, type]) =>
    media(`the file that ${model} creates is valid and of the right type`, async (ctx) => {
      const seconds = model === "sandbox-video" ? { seconds: 1 } : {};
      const answer = answers(await runModel(await ctx.shared("business", "media"), model, { ...seconds, sandbox: { latencyMs: 10 } }), 200);
      const response = await fetch(pick(answer, `result.${member}.0.url`));
      assert.match(response.headers.get("content-type") ?? "", type);
      assert.ok((await response.arrayBuffer()).byteLength > 100);
    }),
  ),
];

const many = (count: number): unknown[] => Array.from({ length: count }, (_, index) => node(`n${index}`, "note"));
const edges = (count: number): unknown[] => Array.from({ length: count }, (_, index) => ({ id: `e${index}`, source: "n0", target: "n1" }));
const user = (ctx: Context): Promise<Actor> => ctx.shared("enterprise", "sizes");

const BOUNDS: readonly [what: string, within: object, beyond: object][] = [
  ["500 nodes", { nodes: many(500) }, { nodes: many(501) }],
  ["2,000 edges", { edges: edges(2_000) }, { edges: edges(2_001) }],
  ["200 characters of name", { name: "n".repeat(200) }, { name: "n".repeat(201) }],
  ["50 tags", { tags: Array<string>(50).fill("t") }, { tags: Array<string>(51).fill("t") }],
];

const bounds: Case[] = [
  ...BOUNDS.map(([what, within, beyond]) =>
    sizes(`a workflow can have at most ${what}`, async (ctx) => {
      answers(await (await user(ctx)).post("/api/workflows", { name: "Large", ...within }), 201);
      refuses(await (await user(ctx)).post("/api/workflows", { name: "Larger", ...beyond }), 400, "INVALID_REQUEST");
    }),
  ),
  sizes("updates have the same limits", async (ctx) => {
    const slug = await save(await user(ctx), {});
    for (const [, , beyond] of BOUNDS) refuses(await (await user(ctx)).put(`/api/workflows/${slug}`, beyond), 400, "INVALID_REQUEST");
  }),
  sizes("a workflow can have at most 8 MB", async (ctx) => {
    const text = "x".repeat(200_000);
    const large = (count: number): object => ({
      name: "Large",
      nodes: Array.from({ length: count }, (_, index) => node(`n${index}`, "note", { text })),
    });
    answers(await (await user(ctx)).post("/api/workflows", large(41)), 201);
    refuses(await (await user(ctx)).post("/api/workflows", large(43)), 413, "PAYLOAD_TOO_LARGE");
  }),
  sizes("a JSON body can have at most 10 MB", async (ctx) => {
    const raw = (bytes: number): string => `{"name":"Padded"${" ".repeat(bytes)}}`;
    answers(await (await user(ctx)).call("POST", "/api/workflows", { raw: raw(10 * MEGABYTE - 100) }), 201);
    refuses(await (await user(ctx)).call("POST", "/api/workflows", { raw: raw(10 * MEGABYTE) }), 413, "PAYLOAD_TOO_LARGE");
  }),
  sizes("a text value can have at most 256 kB", async (ctx) => {
    const graph = echo({ name: "field", type: "textarea" });
    answers(await runGraph(await user(ctx), graph, { field: "x".repeat(256 * 1024) }), 200);
    refuses(await runGraph(await user(ctx), graph, { field: "x".repeat(256 * 1024 + 1) }), 400, "INVALID_INPUTS");
  }),
  sizes("a graph of many nodes runs", async (ctx) => {
    const chain = Array.from({ length: 100 }, (_, index) => node(`b${index}`, "text-box", { text: index === 0 ? "x" : "{{x}}" }));
    const links = Array.from({ length: 99 }, (_, index) => edge(`b${index}.text`, `b${index + 1}.x`));
    const graph = { nodes: [...chain, node("out", "response-output")], edges: [...links, edge("b99.text", "out.text")] };
    answers(await runGraph(await user(ctx), graph), 200, { result: { text: "x" } });
  }),
  sizes("a name in another script is limited by characters, not bytes", async (ctx) => {
    answers(await (await user(ctx)).post("/api/workflows", { ...picture(), name: "漢".repeat(200) }), 201);
  }),
];

export const mediaCases: Case[] = [...files, ...bounds];
