import assert from "node:assert/strict";
import { inSection, type Case } from "../case";
import { answers, exactly, is, noWorkflow, pick, refuses } from "../check";
import { unique, type Actor, type Caller } from "../context";
import { edge, node, save } from "../graphs";

const versions = inSection("D16");
const until = inSection("D17");
const deleted = inSection("D19");
const templates = inSection("D20");

const says = (text: string) => ({
  nodes: [node("t", "text-box", { text }), node("out", "response-output")],
  edges: [edge("t.text", "out.text")],
});
const publish = (caller: Caller, slug: string, note = "") => caller.post(`/api/workflows/${slug}/versions`, { note });
const run = async (caller: Caller, slug: string, query = ""): Promise<string> =>
  pick(answers(await caller.post(`/api/workflows/${slug}/run${query}`, { inputs: {} }), 200), "result.text");
const newName = (): string => `Case ${unique()}`;

const versionCases: Case[] = [
  versions("a draft is published as version 1, 2, …; versions are listed newest first and can be read", async (ctx) => {
    const user = await ctx.shared("pro", "versions");
    const slug = await save(user, says("one"));
    const head = { createdAt: is.time, createdBy: user.userId, name: is.text, description: is.string };
    answers(await publish(user, slug, "first"), 201, exactly({ version: 1, note: "first", ...head }));
    answers(await user.post(`/api/workflows/${slug}/versions`), 201, { version: 2, note: "" });
    answers(await user.get(`/api/workflows/${slug}/versions`), 200, {
      rows: [{ version: 2 }, { version: 1, note: "first" }],
      nextCursor: null,
    });
    answers(await user.get(`/api/workflows/${slug}/versions?limit=1`), 200, { rows: [{ version: 2 }], nextCursor: is.text });
    answers(await user.get(`/api/workflows/${slug}/versions/1`), 200, { version: 1, nodes: is.list, edges: is.list, viewport: is.object });
    refuses(await user.get(`/api/workflows/${slug}/versions/3`), 404, "VERSION_NOT_FOUND");
    refuses(await user.get(`/api/workflows/${slug}/versions/one`), 404, "VERSION_NOT_FOUND");
  }),
  versions("runs use the newest published version, whatever happens to the draft", async (ctx) => {
    const user = await ctx.shared("pro", "versions");
    const slug = await save(user, says("one"));
    assert.equal(await run(user, slug), "one");
    answers(await publish(user, slug), 201);
    answers(await user.put(`/api/workflows/${slug}`, says("two")), 200, { publishedVersion: 1, changedSincePublished: true });
    assert.deepEqual(await Promise.all(["", "?version=1", "?version=draft"].map((query) => run(user, slug, query))), ["one", "one", "two"]);
    answers(await user.get(`/api/workflows/${slug}`), 200, { publishedVersion: 1, changedSincePublished: true });
    refuses(await user.post(`/api/workflows/${slug}/run?version=2`, { inputs: {} }), 404, "VERSION_NOT_FOUND");
    refuses(await user.post(`/api/workflows/${slug}/run?version=newest`, { inputs: {} }), 400, "INVALID_REQUEST");
  }),
  versions("quotes and schemas also accept ?version", async (ctx) => {
    const user = await ctx.shared("pro", "versions");
    const field = (name: string) => ({
      nodes: [node("in", "request-input", { fields: [{ name, type: "text", label: name }] })],
      edges: [],
    });
    const slug = await save(user, field("old"));
    answers(await publish(user, slug), 201);
    answers(await user.put(`/api/workflows/${slug}`, field("new")), 200);
    for (const [query, name] of [
      ["", "old"],
      ["?version=1", "old"],
      ["?version=draft", "new"],
    ] as const) {
      answers(await user.get(`/api/workflows/${slug}/schema${query}`), 200, { fields: [{ name }] });
      answers(await user.post(`/api/workflows/${slug}/quote${query}`, { inputs: { [name]: "x" } }), 200);
    }
    refuses(await user.get(`/api/workflows/${slug}/schema?version=9`), 404, "VERSION_NOT_FOUND");
    refuses(await user.post(`/api/workflows/${slug}/quote?version=9`, { inputs: {} }), 404, "VERSION_NOT_FOUND");
  }),
  versions("an execution records its version, null for the draft", async (ctx) => {
    const user = await ctx.shared("pro", "versions");
    const slug = await save(user, says("one"));
    answers(await publish(user, slug), 201);
    for (const [query, version] of [
      ["", 1],
      ["?version=draft", null],
    ] as const) {
      const answer = answers(await user.post(`/api/workflows/${slug}/run${query}`, { inputs: {} }), 200);
      answers(await user.get(`/api/executions/${answer.headers.get("x-execution-id") ?? ""}`), 200, { workflowSlug: slug, version });
    }
  }),
  versions("a version is restored into the draft", async (ctx) => {
    const user = await ctx.shared("pro", "versions");
    const slug = await save(user, says("one"));
    answers(await publish(user, slug), 201);
    answers(await user.put(`/api/workflows/${slug}`, says("two")), 200);
    answers(await user.post(`/api/workflows/${slug}/versions/1/restore`), 200, { slug, publishedVersion: 1, changedSincePublished: false });
    assert.equal(await run(user, slug, "?version=draft"), "one");
    refuses(await user.post(`/api/workflows/${slug}/versions/2/restore`), 404, "VERSION_NOT_FOUND");
  }),
  versions("PUT ignores publishedVersion and changedSincePublished", async (ctx) => {
    const user = await ctx.shared("pro", "versions");
    const slug = await save(user, says("one"));
    const forged = { publishedVersion: 7, changedSincePublished: true };
    answers(await user.put(`/api/workflows/${slug}`, forged), 200, { publishedVersion: null, changedSincePublished: false });
  }),
  versions("users who don't own a template read and run its newest published version", async (ctx) => {
    const [owner, reader] = [await ctx.shared("pro", "versions"), await ctx.shared("pro", "readers")];
    const slug = await save(owner, { name: newName(), isTemplate: true, ...says("one") });
    answers(await publish(owner, slug), 201);
    answers(await owner.put(`/api/workflows/${slug}`, says("two")), 200);
    assert.match(answers(await reader.get(`/api/workflows/${slug}`), 200, { publishedVersion: 1 }).text, /"text":"one"/);
    assert.equal(await run(reader, slug), "one");
    refuses(await reader.post(`/api/workflows/${slug}/run?version=draft`, { inputs: {} }), 404, "VERSION_NOT_FOUND");
    noWorkflow(await publish(reader, slug));
    noWorkflow(await reader.get(`/api/workflows/${slug}/versions`));
  }),
];

const untilCases: Case[] = [
  until("a run and a quote with `until` cover only that node and its dependencies", async (ctx) => {
    const user = await ctx.shared("pro", "until");
    const image = (id: string) => node(id, "generate-image", { model: "sandbox-image-fast", inputs: { sandbox: { latencyMs: 10 } } });
    const slug = await save(user, {
      nodes: [
        node("in", "request-input", { fields: [{ name: "who", type: "text" }] }),
        image("one"),
        image("two"),
        node("out", "response-output"),
      ],
      edges: [edge("in.who", "one.prompt"), edge("one.image", "two.image"), edge("in.who", "two.prompt"), edge("two.image", "out.images")],
    });
    const of = (part: object) => ({ inputs: { who: "Ada" }, ...part });
    const priced = async (part: object): Promise<string[]> =>
      pick<{ id: string }[]>(answers(await user.post(`/api/workflows/${slug}/quote`, of(part)), 200), "nodes").map(({ id }) => id);
    assert.deepEqual([await priced({}), await priced({ until: "one" })], [["one", "two"], ["one"]]);
    const answer = answers(await user.post(`/api/workflows/${slug}/run`, of({ until: "one" })), 200, { result: exactly({}) });
    const id = answer.headers.get("x-execution-id") ?? "";
    const { nodes } = answers(await user.get(`/api/executions/${id}`), 200).body as { nodes: { id: string; status: string }[] };
    assert.deepEqual(
      nodes.filter(({ status }) => status === "completed").map((one) => one.id),
      nodes.map((one) => one.id),
    );
    assert.ok(nodes.some((one) => one.id === "one") && nodes.every((one) => one.id !== "two" && one.id !== "out"));
  }),
  until("a node that the workflow doesn't have can't be the target of a run", async (ctx) => {
    const user = await ctx.shared("pro", "until");
    const slug = await save(user, says("one"));
    for (const path of ["run", "quote"])
      refuses(await user.post(`/api/workflows/${slug}/${path}`, { inputs: {}, until: "nowhere" }), 400, "INVALID_REQUEST", {
        issues: [{ path: "until", message: is.text }],
      });
  }),
];

const deletedCases: Case[] = [
  deleted("a deleted slug is reserved for its owner: others get -2, and the owner gets it again", async (ctx) => {
    const [owner, other] = [await ctx.shared("pro", "versions"), await ctx.shared("pro", "readers")];
    const name = newName();
    const slug = await save(owner, { name });
    answers(await owner.delete(`/api/workflows/${slug}`), 204);
    assert.equal(await save(other, { name }), `${slug}-2`);
    noWorkflow(await owner.get(`/api/workflows/${slug}`));
    assert.equal(await save(owner, { name }), slug);
    noWorkflow(await other.get(`/api/workflows/${slug}`));
  }),
];

const template = (caller: Caller, more: object = {}): Promise<string> => save(caller, { name: newName(), isTemplate: true, ...more });
const listed = async (caller: Caller, slug: string): Promise<boolean> =>
  answers(await caller.get("/api/workflows"), 200).text.includes(`"slug":"${slug}"`);

const templateCases: Case[] = [
  templates("an unapproved account can't publish a template", async (ctx) => {
    const actor = await ctx.actor({ tier: "free", approved: false, noKey: true });
    refuses(await actor.session.post("/api/workflows", { name: newName(), isTemplate: true }), 403, "ACCOUNT_NOT_APPROVED");
    const slug = await save(actor.session, { name: newName() });
    refuses(await actor.session.put(`/api/workflows/${slug}`, { isTemplate: true }), 403, "ACCOUNT_NOT_APPROVED");
    answers(await actor.session.put(`/api/workflows/${slug}`, { description: "my own draft" }), 200);
  }),
  templates("an account can have at most 50 templates", async (ctx) => {
    const owner = await ctx.actor({ tier: "enterprise" });
    for (let count = 0; count < 50; count += 10) await Promise.all(Array.from({ length: 10 }, () => template(owner)));
    answers(await owner.post("/api/workflows", { name: newName(), isTemplate: true }), 403, { code: "TEMPLATE_CAP_REACHED", limit: 50 });
  }),
  templates("an administrator hides a template, and restores it", async (ctx) => {
    const [owner, reader] = [await ctx.shared("pro", "versions"), await ctx.shared("pro", "readers")];
    const slug = await template(owner, says("one"));
    assert.equal(await listed(reader, slug), true);
    const change = { listed: false, reason: "spam" };
    answers(await ctx.admin.patch(`/api/admin/templates/${slug}`, change), 200, exactly({ slug, ...change }));
    assert.equal(await listed(reader, slug), false);
    noWorkflow(await reader.get(`/api/workflows/${slug}`));
    noWorkflow(await reader.post(`/api/workflows/${slug}/run`, { inputs: {} }));
    answers(await owner.get(`/api/workflows/${slug}`), 200, { isTemplate: true, takedown: { reason: "spam", at: is.time } });
    answers(await ctx.admin.get("/api/admin/audit?limit=5"), 200, { rows: is.list });
    answers(await ctx.admin.patch(`/api/admin/templates/${slug}`, { listed: true }), 200, { slug, listed: true, reason: null });
    assert.equal(await listed(reader, slug), true);
    noWorkflow(await ctx.admin.patch("/api/admin/templates/no-such-template", { listed: false }));
    assert.equal((await reader.patch(`/api/admin/templates/${slug}`, change)).status, 403);
  }),
  templates("covers and thumbnails accept only stored files", async (ctx) => {
    const owner: Actor = await ctx.shared("pro", "versions");
    for (const address of ["https://example.com/tracker.png", "javascript:alert(1)", "/elsewhere/x.png"]) {
      refuses(await owner.post("/api/workflows", { name: newName(), cover: { image: address } }), 400, "INVALID_REQUEST");
      refuses(await owner.post("/api/workflows", { name: newName(), thumbnail: address }), 400, "INVALID_REQUEST");
    }
    const bytes = new Uint8Array(Buffer.from("89504e470d0a1a0a0000000d4948445200000001", "hex"));
    const headers = { "x-api-key": owner.key, "content-type": "image/png" };
    const upload = await fetch(`${ctx.baseUrl}/api/media`, { method: "POST", headers, body: bytes });
    const { url } = (await upload.json()) as { url: string };
    answers(await owner.post("/api/workflows", { name: newName(), cover: { image: url, video: null }, thumbnail: url }), 201, {
      cover: { image: url },
      thumbnail: url,
    });
  }),
  templates("a thumbnail can be a data URL of 64 kB, which lists return as an address", async (ctx) => {
    const owner = await ctx.shared("pro", "versions");
    const png = (bytes: number): string =>
      `data:image/png;base64,${Buffer.concat([Buffer.from("89504e470d0a1a0a0000000d49484452", "hex"), Buffer.alloc(bytes)]).toString("base64")}`;
    const name = newName();
    const slug = await save(owner, { name, thumbnail: png(1_000) });
    answers(await owner.get(`/api/workflows/${slug}`), 200, { thumbnail: png(1_000) });
    const list = answers(await owner.get(`/api/workflows?q=${encodeURIComponent(name)}`), 200);
    const [row] = list.body as unknown as { thumbnail: string }[];
    assert.ok(row!.thumbnail.startsWith(`${ctx.baseUrl}/media/`), row!.thumbnail);
    assert.equal((await fetch(row!.thumbnail)).status, 200);
    refuses(await owner.post("/api/workflows", { name, thumbnail: png(64 * 1024) }), 400, "INVALID_REQUEST");
  }),
  templates("the list is an array that limit, cursor, q, tag and folderId filter, with the next page in Link", async (ctx) => {
    const owner = await ctx.actor({ tier: "pro" });
    const tag = unique();
    const folderId = pick<string>(answers(await owner.post("/api/folders", { name: "Folder" }), 201), "id");
    const newSlugs: string[] = [];
    for (let count = 0; count < 3; count += 1)
      newSlugs.unshift(await save(owner, { name: `${newName()} ${tag}`, tags: [tag], ...(count ? { folderId } : {}) }));
    const slugs = async (query: string) => {
      const answer = answers(await owner.get(`/api/workflows?${query}`), 200);
      return { slugs: (answer.body as unknown as { slug: string }[]).map(({ slug }) => slug), link: answer.headers.get("link") };
    };
    assert.deepEqual(await slugs(`tag=${tag}`), { slugs: newSlugs, link: null });
    assert.deepEqual((await slugs(`q=${tag.toUpperCase()}`)).slugs, newSlugs);
    assert.deepEqual((await slugs(`folderId=${folderId}`)).slugs, newSlugs.slice(0, 2));
    const first = await slugs(`tag=${tag}&limit=2`);
    assert.deepEqual(first.slugs, newSlugs.slice(0, 2));
    const [, next] = /^<\/api\/workflows\?([^>]+)>; rel="next"$/.exec(first.link ?? "") ?? [];
    assert.deepEqual(await slugs(next ?? ""), { slugs: newSlugs.slice(2), link: null });
    refuses(await owner.get("/api/workflows?limit=0"), 400, "INVALID_REQUEST");
  }),
  templates("a clone belongs to the caller, with copies of the files that it names", async (ctx) => {
    const [owner, reader] = [await ctx.shared("pro", "versions"), await ctx.shared("pro", "readers")];
    const bytes = new Uint8Array(Buffer.from("89504e470d0a1a0a0000000d4948445200000002", "hex"));
    const headers = { "x-api-key": owner.key, "content-type": "image/png" };
    const upload = await fetch(`${ctx.baseUrl}/api/media`, { method: "POST", headers, body: bytes });
    const { id } = (await upload.json()) as { id: string };
    const graph = {
      nodes: [node("m", "media-upload", { mediaId: id }), node("out", "response-output")],
      edges: [edge("m.media", "out.images")],
    };
    const slug = await template(owner, graph);
    const copy = answers(await reader.post(`/api/workflows/${slug}/clone`), 201, { createdBy: reader.userId, isTemplate: false });
    assert.notEqual(pick(copy, "slug"), slug);
    assert.ok(!copy.text.includes(id));
    answers(await reader.post(`/api/workflows/${pick<string>(copy, "slug")}/run`, { inputs: {} }), 200, {
      result: { images: [{ url: is.text }] },
    });
    noWorkflow(await reader.post("/api/workflows/no-such-workflow/clone"));
  }),
];

export const libraryCases: Case[] = [...versionCases, ...untilCases, ...deletedCases, ...templateCases];
