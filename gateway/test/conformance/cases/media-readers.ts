import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { call, type Answer } from "../../../../test-support/client";
import { inSection, type Case } from "../case";
import { answers, is, pick, refuses } from "../check";
import { eventually, type Actor, type Context } from "../context";
import { clip, edge, node, picture, save } from "../graphs";

/** All responses with addresses of files, and the callers who can read the files. */

const files = inSection("D29");

const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");
const ADDRESS = /http[^"\\\s,]*?\/media\/[0-9a-f]{32}\.\w+(?:\?[^"\\\s,]*)?/g;
const HOUR_MS = 3_600_000;
const QUICK = { prompt: "a loom", sandbox: { latencyMs: 10 } };
const MODEL = "nodeloom/sandbox-image-fast";

const user = (ctx: Context): Promise<Actor> => ctx.shared("enterprise", "readers of files");
const plain = (url: string): string => url.split("?")[0]!;
const statusOf = async (url: string): Promise<number> => (await fetch(url)).status;

const uploaded = async (ctx: Context, { key }: Actor): Promise<{ id: string; url: string }> => {
  const body = new Uint8Array(Buffer.concat([PNG, randomBytes(500)]));
  const headers = { "x-api-key": key, "content-type": "image/png" };
  const response = await fetch(`${ctx.baseUrl}/api/media`, { method: "POST", headers, body });
  return (await response.json()) as { id: string; url: string };
};
const upload = async (ctx: Context, own: Actor): Promise<string> => (await uploaded(ctx, own)).url;

/** Checks that every address in a text can be read, and that it can't be read without its signature. */
const allReadable = async (text: string, least = 1): Promise<void> => {
  const addresses = [...new Set(text.match(ADDRESS) ?? [])];
  assert.ok(addresses.length >= least, text.slice(0, 500));
  for (const url of addresses) {
    assert.equal(await statusOf(url), 200, url);
    assert.equal(await statusOf(plain(url)), 403, url);
  }
};

const textOf = async (ctx: Context, { key }: Actor, path: string): Promise<string> =>
  (await fetch(`${ctx.baseUrl}${path}`, { headers: { "x-api-key": key } })).text();

const PICTURES = {
  nodes: [
    node("in", "request-input", { fields: [{ name: "photo", type: "image_upload", label: "Photo" }] }),
    node("out", "response-output"),
  ],
  edges: [edge("in.photo", "out.images")],
};

const TEXTS = {
  nodes: [node("in", "request-input", { fields: [{ name: "words", type: "text", label: "Words" }] }), node("out", "response-output")],
  edges: [edge("in.words", "out.text")],
};

const answered = (name: string, ask: (own: Actor, ctx: Context) => Promise<string>): Case =>
  files(`files in ${name} have signed addresses`, async (ctx) => allReadable(await ask(await user(ctx), ctx)));

const falEnd = async (own: Actor): Promise<string> => {
  const id: string = pick(answers(await own.post(`/fal/${MODEL}`, QUICK), 200), "request_id");
  await eventually(
    () => own.get(`/fal/${MODEL}/requests/${id}/status`),
    ({ status }) => status !== 202,
  );
  return id;
};

const mcpRun = async (own: Actor): Promise<string> => {
  const params = { name: "run", arguments: { model: "sandbox-image-fast", inputs: QUICK, maxCredits: 50 } };
  const headers = { authorization: `Bearer ${own.key}`, accept: "application/json, text/event-stream" };
  const answer = await own.call("POST", "/mcp", { body: { jsonrpc: "2.0", id: 1, method: "tools/call", params }, headers });
  return answers(answer, 200).text;
};

const batchOver = async (own: Actor, photo: string): Promise<string> => {
  const slug = await save(own, PICTURES);
  const created = answers(await own.post(`/api/workflows/${slug}/batches`, { inputs: [{ photo }, { photo }] }), 202);
  const id: string = pick(created, "batchId");
  await eventually(
    () => own.get(`/api/batches/${id}`),
    ({ body }) => (body as { status: string }).status === "completed",
  );
  return id;
};

const answersCases: Case[] = [
  answered("answers of fal's API", async (own) => answers(await own.get(`/fal/${MODEL}/requests/${await falEnd(own)}`), 200).text),
  answered("predictions of Replicate's API", async (own) => {
    const body = { input: QUICK };
    const headers = { prefer: "wait=60" };
    return answers(await own.call("POST", `/replicate/v1/models/${MODEL}/predictions`, { body, headers }), 201).text;
  }),
  answered("the stream of a prediction", async (own, ctx) => {
    const id: string = pick(answers(await own.post("/replicate/v1/predictions", { version: MODEL, input: QUICK }), 201), "id");
    return textOf(ctx, own, `/replicate/v1/predictions/${id}/stream`);
  }),
  answered("answers of OpenAI's API", async (own) => {
    const headers = { authorization: `Bearer ${own.key}` };
    const inputs = { model: "sandbox-image-fast", prompt: "a loom" };
    return answers(await own.call("POST", "/v1/images/generations", { body: inputs, headers }), 200).text;
  }),
  answered("answers of MCP tools", mcpRun),
  files("rows of a batch and its files of results have signed addresses, with the ids of the files beside them", async (ctx) => {
    const own = await user(ctx);
    const id = await batchOver(own, (await uploaded(ctx, own)).id);
    const { text } = answers(await own.get(`/api/batches/${id}`), 200);
    const lines = await textOf(ctx, own, `/api/batches/${id}/results?format=jsonl`);
    const table = await textOf(ctx, own, `/api/batches/${id}/results?format=csv`);
    for (const one of [text, lines, table]) await allReadable(one);
    const first = JSON.parse(lines.split("\n")[0]!) as { result: { images: { id: string; url: string }[] } };
    const { id: mediaId, url } = first.result.images[0]!;
    answers(await own.get(`/api/media/${mediaId}`), 200, { id: mediaId, url: is.url(plain(url)) });
    assert.ok(table.includes(mediaId), table);
  }),
  files(
    "a webhook's message has signed addresses",
    async (ctx) => {
      const inbox = ctx.receiver!.inbox();
      const own = await ctx.actor({ tier: "pro", webhook: { url: inbox.url } });
      const slug = await save(own, clip({ latencyMs: 10 }));
      answers(await own.post(`/api/workflows/${slug}/run?async=true`, { inputs: {} }), 202);
      const [message] = await eventually(
        () => Promise.resolve(inbox.deliveries),
        (all) => all.length > 0,
        60_000,
      );
      await allReadable(message!.body);
    },
    { needs: ["receiver"] },
  ),
];

const conditional = (own: Actor, path: string, etag: string): Promise<Answer> =>
  own.call("GET", path, { headers: { "if-none-match": etag } });

const storeCases: Case[] = [
  files("an entity tag includes the hour of the addresses, and still is the revision for If-Match", async (ctx) => {
    const own = await user(ctx);
    const url = await upload(ctx, own);
    const graph = { nodes: [node("m", "text-box", { text: url }), node("out", "response-output")], edges: [edge("m.text", "out.text")] };
    const path = `/api/workflows/${await save(own, graph)}`;
    const reply = answers(await own.get(path), 200);
    const etag = reply.headers.get("etag") ?? "";
    const hour = Math.floor(Date.now() / HOUR_MS);
    assert.match(etag, new RegExp(`-h(?:${hour}|${hour - 1})"$`));
    answers(await conditional(own, path, etag), 304);
    answers(await conditional(own, path, etag.replace(/-h\d+/, `-h${hour - 2}`)), 200);
    answers(await own.call("PUT", path, { body: { description: "changed" }, headers: { "if-match": etag } }), 200);
    answers(await own.call("PUT", path, { body: { description: "again" }, headers: { "if-match": etag } }), 412);
  }),
  files("requests under an Idempotency-Key are equal with a signed, a plain and a renewed address", async (ctx) => {
    const own = await user(ctx);
    const url = await upload(ctx, own);
    const slug = await save(own, PICTURES);
    const headers = { "idempotency-key": randomBytes(8).toString("hex") };
    const ask = (photo: string) => own.call("POST", `/api/workflows/${slug}/run`, { body: { inputs: { photo } }, headers });
    const first = answers(await ask(url), 200);
    for (const one of [plain(url), url.replace(/s=.*/, "s=gone")]) {
      const again = answers(await ask(one), 200);
      assert.equal(again.headers.get("x-execution-id"), first.headers.get("x-execution-id"));
      await allReadable(again.text);
    }
  }),
  files("a copy of a template can read files of third accounts that its author could read", async (ctx) => {
    const [third, author, reader] = [await user(ctx), await ctx.actor({ tier: "business" }), await ctx.actor({ tier: "pro" })];
    const url = await upload(ctx, third);
    const graph = { nodes: [node("m", "text-box", { text: url }), node("out", "response-output")], edges: [edge("m.text", "out.text")] };
    const slug = await save(author, { ...graph, isTemplate: true });
    const copy: string = pick(answers(await reader.post(`/api/workflows/${slug}/clone`), 201), "slug");
    await allReadable(answers(await reader.get(`/api/workflows/${copy}`), 200).text);
  }),
];

const visit = async (ctx: Context, slug: string): Promise<Record<string, string>> => {
  const answer = answers(await call(ctx.baseUrl, "POST", `/api/apps/${slug}/token`, { body: {} }), 200);
  return { authorization: `Bearer ${pick(answer, "token")}` };
};

const appCases: Case[] = [
  files("a visitor's run has addresses for an hour or two, and its owner reads it with other addresses", async (ctx) => {
    const own = await user(ctx);
    const app = { published: true, dailyCredits: 50, perVisitorPerDay: 10, origins: [] };
    const graph = picture({ sandbox: { latencyMs: 10 } });
    const slug: string = pick(answers(await own.session.post("/api/workflows", { ...graph, name: "App", app }), 201), "slug");
    const headers = await visit(ctx, slug);
    const run = answers(await call(ctx.baseUrl, "POST", `/api/workflows/${slug}/run`, { body: { inputs: {} }, headers }), 200);
    await allReadable(run.text);
    const url: string = pick(run, "result.images.0.url");
    const lifetimeMs = Number(new URL(url).searchParams.get("e")) * 1_000 - Date.now();
    assert.ok(lifetimeMs > 0.9 * HOUR_MS && lifetimeMs <= 2 * HOUR_MS, String(lifetimeMs));
    const executionId = run.headers.get("x-execution-id") ?? "";
    await allReadable(answers(await call(ctx.baseUrl, "GET", `/api/executions/${executionId}`, { headers }), 200).text);
    await allReadable(answers(await own.get(`/api/executions/${executionId}`), 200).text);
  }),
  files("a visitor can name a file of the app's account only with a valid signature", async (ctx) => {
    const own = await user(ctx);
    const app = { published: true, dailyCredits: 50, perVisitorPerDay: 10, origins: [] };
    const slug: string = pick(answers(await own.session.post("/api/workflows", { ...TEXTS, name: "App", app }), 201), "slug");
    const [headers, url] = [await visit(ctx, slug), await upload(ctx, own)];
    const run = (words: string) => call(ctx.baseUrl, "POST", `/api/workflows/${slug}/run`, { body: { inputs: { words } }, headers });
    refuses(await run(plain(url)), 400, "INVALID_INPUTS");
    await allReadable(answers(await run(url), 200).text);
  }),
  files("a published app's cover and field defaults are public, but not inputs and results of its runs", async (ctx) => {
    const own = await user(ctx);
    const [cover, sample, inputPhoto] = [await upload(ctx, own), await upload(ctx, own), await upload(ctx, own)];
    const fields = [{ name: "photo", type: "image_upload", label: "Photo", default: sample }];
    const graph = { ...PICTURES, nodes: [node("in", "request-input", { fields }), node("out", "response-output")] };
    const app = { published: true, dailyCredits: 50, perVisitorPerDay: 10, origins: [], cover };
    const slug: string = pick(answers(await own.session.post("/api/workflows", { ...graph, name: "App", app }), 201), "slug");
    const page = answers(await call(ctx.baseUrl, "GET", `/api/apps/${slug}`, {}), 200).text;
    for (const url of [cover, sample]) {
      assert.ok(page.includes(plain(url)), page);
      assert.equal(await statusOf(plain(url)), 200);
    }
    await allReadable(answers(await own.post(`/api/workflows/${slug}/run`, { inputs: { photo: inputPhoto } }), 200).text);
  }),
  files("a file of a private workflow isn't public, wherever the workflow names it", async (ctx) => {
    const own = await user(ctx);
    const [cover, sample] = [await upload(ctx, own), await upload(ctx, own)];
    const fields = [{ name: "photo", type: "image_upload", label: "Photo", default: sample }];
    await save(own, {
      ...PICTURES,
      nodes: [node("in", "request-input", { fields }), node("out", "response-output")],
      cover: { image: cover },
    });
    for (const url of [cover, sample]) assert.equal(await statusOf(plain(url)), 403);
  }),
];

export const mediaReaderCases: Case[] = [...answersCases, ...storeCases, ...appCases];
