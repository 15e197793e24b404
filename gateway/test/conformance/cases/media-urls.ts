import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { call } from "../../../../test-support/client";
import { inSection, type Case } from "../case";
import { answers, is, pick, refuses } from "../check";
import type { Actor, Context } from "../context";
import { edge, node, picture, save } from "../graphs";

const media = inSection("D12");

const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");
const HOUR_SECONDS = 3_600;

/** A unique picture of the actor: the pixels, then bytes that viewers ignore. */
const upload = async (ctx: Context, { key }: Actor): Promise<{ id: string; url: string }> => {
  const body = new Uint8Array(Buffer.concat([PNG, randomBytes(500)]));
  const response = await fetch(`${ctx.baseUrl}/api/media`, {
    method: "POST",
    headers: { "x-api-key": key, "content-type": "image/png" },
    body,
  });
  return (await response.json()) as { id: string; url: string };
};

const plain = (url: string): string => url.split("?")[0]!;
const keyOf = (url: string): string => new URL(url).pathname.split("/").at(-1)!;
/** An address that was once valid, with an expiry in the past and the signature of another address. */
const expired = (url: string): string => url.replace(/e=\d+/, "e=1700000000");
const statusOf = async (url: string): Promise<number> => (await fetch(url)).status;

const showing = (url: string, changes: object = {}): object => ({
  nodes: [node("m", "text-box", { text: url }), node("out", "response-output")],
  edges: [edge("m.text", "out.text")],
  ...changes,
});

export const mediaUrlCases: Case[] = [
  media("a file's address is signed, and expires within 25 hours at the full hour", async (ctx) => {
    const { url } = await upload(ctx, await ctx.shared("business", "media"));
    const query = new URL(url).searchParams;
    const expires = Number(query.get("e"));
    const hours = expires / HOUR_SECONDS - Date.now() / 1_000 / HOUR_SECONDS;
    assert.equal(expires % HOUR_SECONDS, 0);
    assert.ok(hours > 23.9 && hours <= 25, String(hours));
    const response = await fetch(url);
    assert.equal(response.status, 200);
    assert.match(response.headers.get("cache-control") ?? "", /^private, max-age=\d+/);
  }),
  media("an address without its signature, an altered one and an expired one are 403 MEDIA_URL_EXPIRED", async (ctx) => {
    const { url } = await upload(ctx, await ctx.shared("business", "media"));
    const altered = url.replace(/s=./, (start) => (start === "s=A" ? "s=B" : "s=A"));
    for (const one of [plain(url), altered, expired(url)]) {
      const { pathname, search } = new URL(one);
      refuses(await call(ctx.baseUrl, "GET", pathname + search), 403, "MEDIA_URL_EXPIRED");
    }
  }),
  media("a thumbnail's width isn't part of the signature", async (ctx) => {
    const { url } = await upload(ctx, await ctx.shared("business", "media"));
    for (const one of [`${url}&w=wide`, `${url}?w=wide`]) assert.equal(await statusOf(one), 400);
  }),
  media("a run's files have signed addresses in its response, in a poll and in its events", async (ctx) => {
    const actor = await ctx.shared("business", "media");
    const slug = await save(actor, picture({ sandbox: { latencyMs: 10 } }));
    const run = answers(await actor.post(`/api/workflows/${slug}/run`, { inputs: {} }), 200);
    const executionId = run.headers.get("x-execution-id") ?? "";
    const poll = answers(await actor.get(`/api/executions/${executionId}`), 200);
    for (const answer of [run, poll]) assert.equal(await statusOf(pick(answer, "result.images.0.url")), 200);
    const events = await fetch(`${ctx.baseUrl}/api/executions/${executionId}/events`, { headers: { "x-api-key": actor.key } });
    assert.match(await events.text(), /\/media\/[0-9a-f]{32}\.\w+\?e=\d+&s=[\w-]{43}/);
  }),
  media("GET /api/media/:id renews an address by the file's id and by the name in its address, only for its account", async (ctx) => {
    const actor = await ctx.shared("business", "media");
    const { id, url } = await upload(ctx, actor);
    for (const name of [id, keyOf(url)]) {
      const answer = answers(await actor.get(`/api/media/${name}`), 200, { id, public: false, url: is.url(`${ctx.baseUrl}/media/`) });
      assert.equal(await statusOf(pick(answer, "url")), 200);
    }
    const other = await ctx.shared("pro", "readers");
    for (const name of [id, keyOf(url)]) refuses(await other.get(`/api/media/${name}`), 404, "NOT_FOUND");
    refuses(await (await actor.withKey(["workflow:read"])).get(`/api/media/${id}`), 403, "CAPABILITY_DENIED");
  }),
  media("an owner makes a file public, and private again", async (ctx) => {
    const actor = await ctx.shared("business", "media");
    const { id, url } = await upload(ctx, actor);
    answers(await actor.patch(`/api/media/${id}`, { public: true }), 200, { id, public: true });
    const open = await fetch(plain(url));
    assert.equal(open.status, 200);
    assert.equal(open.headers.get("cache-control"), "public, max-age=300");
    answers(await actor.patch(`/api/media/${id}`, { public: false }), 200, { id, public: false });
    assert.equal(await statusOf(plain(url)), 403);
    const other = await ctx.shared("pro", "readers");
    refuses(await other.patch(`/api/media/${id}`, { public: true }), 404, "NOT_FOUND");
  }),
  media("a workflow is stored without signatures, so a signed address doesn't change it", async (ctx) => {
    const actor = await ctx.shared("business", "media");
    const { url } = await upload(ctx, actor);
    const graph = showing(plain(url));
    const slug = await save(actor, graph);
    answers(await actor.post(`/api/workflows/${slug}/versions`, {}), 201);
    const signed = JSON.parse(JSON.stringify(graph).replace(plain(url), url)) as object;
    answers(await actor.put(`/api/workflows/${slug}`, signed), 200);
    const reply = answers(await actor.get(`/api/workflows/${slug}`), 200, { changedSincePublished: false });
    assert.match(reply.text, new RegExp(`${keyOf(url)}\\?e=\\d+&s=`));
  }),
  media("another account's address is accepted with its signature, and the caller can still read it later", async (ctx) => {
    const [owner, other] = [await ctx.shared("business", "media"), await ctx.shared("pro", "readers")];
    const { url } = await upload(ctx, owner);
    for (const one of [plain(url), expired(url)]) {
      const refusal = await other.post("/api/workflows", { name: "theirs", ...showing(one) });
      refuses(refusal, 400, "INVALID_REQUEST");
      assert.equal(pick(refusal, "issues.0.path"), "nodes.0.data.text");
    }
    const slug = await save(other, showing(url));
    const { text } = answers(await other.get(`/api/workflows/${slug}`), 200);
    const [again = ""] = /http[^"]*\/media\/[^"]*/.exec(text) ?? [];
    assert.equal(await statusOf(again), 200);
    answers(await other.put(`/api/workflows/${slug}`, showing(plain(url))), 200);
  }),
  media("a run rejects another account's file with an expired address, and an address that its nodes assemble", async (ctx) => {
    const [owner, other] = [await ctx.shared("business", "media"), await ctx.shared("pro", "readers")];
    const { url } = await upload(ctx, owner);
    const fields = [{ name: "photo", type: "image_upload", label: "Photo" }];
    const nodes = [node("in", "request-input", { fields }), node("out", "response-output")];
    const slug = await save(other, { nodes, edges: [edge("in.photo", "out.images")] });
    refuses(await other.post(`/api/workflows/${slug}/run`, { inputs: { photo: expired(url) } }), 400, "INVALID_INPUTS");
    const [start, end] = [plain(url).slice(0, -20), plain(url).slice(-20)];
    const joined = {
      nodes: [node("a", "text-box", { text: start }), node("b", "text-box", { text: `{{a}}${end}` }), node("out", "response-output")],
      edges: [edge("a.text", "b.a"), edge("b.text", "out.text")],
    };
    const run = await other.post(`/api/workflows/${await save(other, joined)}/run`, { inputs: {} });
    assert.doesNotMatch(run.text, /\?e=\d+&s=/);
  }),
  media("a template's cover is public, but not the literals of its nodes", async (ctx) => {
    const actor = await ctx.shared("business", "media");
    const [cover, inner] = [await upload(ctx, actor), await upload(ctx, actor)];
    const template = showing(inner.url, { isTemplate: true, cover: { image: cover.url } });
    await save(actor, template);
    const open = await fetch(plain(cover.url));
    assert.equal(open.status, 200);
    assert.equal(open.headers.get("cache-control"), "public, max-age=300");
    assert.equal(await statusOf(plain(inner.url)), 403);
  }),
  media("the example file of a template has an address for everyone by its id, but not the files of its nodes", async (ctx) => {
    const [actor, other] = [await ctx.shared("business", "media"), await ctx.shared("pro", "readers")];
    const [example, inner] = [await upload(ctx, actor), await upload(ctx, actor)];
    const fields = [{ name: "photo", type: "image_upload", label: "Photo", default: example.id }];
    const nodes = [
      node("in", "request-input", { fields }),
      node("inner", "media-upload", { mediaId: inner.id }),
      node("out", "response-output"),
    ];
    await save(actor, { nodes, edges: [edge("in.photo", "out.photo"), edge("inner.media", "out.inner")], isTemplate: true });
    const answer = answers(await other.get(`/api/media/${example.id}`), 200, { id: example.id, url: is.url(plain(example.url)) });
    assert.equal(await statusOf(pick(answer, "url")), 200);
    refuses(await other.get(`/api/media/${inner.id}`), 404, "NOT_FOUND");
    refuses(await other.patch(`/api/media/${example.id}`, { public: true }), 404, "NOT_FOUND");
    refuses(await other.delete(`/api/media/${example.id}`), 404, "NOT_FOUND");
  }),
];
