import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { inSection, type Case } from "../case";
import { answers, exactly, fits, is, noWorkflow, pick, refuses } from "../check";
import { unique, type Caller } from "../context";
import { echo, edge, greeting, node, picture, runGraph, save } from "../graphs";

const full = inSection("2.1");
const summary = inSection("2.2");
const list = inSection("4.1");
const test = inSection("4.2");
const create = inSection("4.3");
const update = inSection("4.4");
const move = inSection("4.5");
const remove = inSection("4.6");

const WORKFLOW = {
  slug: is.like(/^[a-z0-9]+(-[a-z0-9]+)*$/),
  name: is.text,
  description: is.string,
  tags: is.list,
  isTemplate: is.boolean,
  hidden: is.boolean,
  archived: is.boolean,
  publicPlayground: is.boolean,
  folderId: is.nullOr(is.text),
  thumbnail: is.nullOr(is.text),
  createdBy: is.text,
  nodes: is.list,
  edges: is.list,
  viewport: { x: is.number, y: is.number, zoom: is.number },
  createdAt: is.time,
  updatedAt: is.time,
  publishedVersion: null,
  changedSincePublished: false,
};

const SUMMARY = {
  slug: is.text,
  name: is.text,
  description: is.string,
  tags: is.list,
  isTemplate: is.boolean,
  hidden: is.boolean,
  archived: is.boolean,
  thumbnail: is.nullOr(is.text),
  createdBy: is.text,
  folderId: is.nullOr(is.text),
  updatedAt: is.time,
};

/** JSON that careless storage would change. It is text, because parsing would also change it here. */
const AWKWARD: readonly [what: string, json: string][] = [
  ["keys with dots and dollars", '{"a.b":1,"$set":{"$where":"x"},"":0}'],
  ["prototype keys", '{"__proto__":{"admin":true},"constructor":{"prototype":1}}'],
  ["empty objects and lists", '{"a":{},"b":[],"c":[[],{}]}'],
  ["nulls", '{"a":null,"b":[null,{"c":null}]}'],
  ["numbers beyond double precision", '{"big":12345678901234567890,"small":1e-400,"exact":0.1000000000000000055511151231257827}'],
  ["emoji, escapes and other scripts", '{"🧵":"👩‍🚀 ü 漢字 \\u0000 \\ud83d"}'],
  ["member order that is not sorted", '{"z":1,"a":2,"10":3,"9":4}'],
];

const bodyOf = (caller: Caller, slug: string): Promise<string> => caller.get(`/api/workflows/${slug}`).then(({ text }) => text);

/** Text of a top-level member, up to the next one. */
const memberText = (text: string, name: string, next: string): string => {
  const from = text.indexOf(`"${name}":`);
  return text.slice(from, text.indexOf(`,"${next}":`, from));
};

const SETTINGS = {
  description: "What it does",
  tags: ["print", "poster"],
  hidden: true,
  archived: true,
  publicPlayground: true,
  thumbnail: "data:image/png;base64,iVBORw0KGgo=",
  cover: { image: "/media/cover.png", video: null },
  viewport: { x: 1.5, y: -2, zoom: 0.75 },
};

const fullObject: Case[] = [
  full("a full workflow has every field with its type", async (ctx) => {
    const pro = await ctx.shared("pro", "workflows");
    const slug = await save(pro, { ...greeting(), ...SETTINGS });
    answers(await pro.get(`/api/workflows/${slug}`), 200, exactly({ ...WORKFLOW, cover: { image: is.text, video: null } }));
  }),
  full("every optional setting is kept by create", async (ctx) => {
    const pro = await ctx.shared("pro", "workflows");
    answers(await pro.get(`/api/workflows/${await save(pro, SETTINGS)}`), 200, SETTINGS);
  }),
  full("every setting can be changed by update", async (ctx) => {
    const pro = await ctx.shared("pro", "workflows");
    const slug = await save(pro, {});
    answers(await pro.put(`/api/workflows/${slug}`, { name: "Other", isTemplate: true, ...SETTINGS }), 200, {
      name: "Other",
      isTemplate: true,
      ...SETTINGS,
    });
  }),
  full("omitted members have empty defaults", async (ctx) => {
    const pro = await ctx.shared("pro", "workflows");
    answers(await pro.get(`/api/workflows/${await save(pro, {})}`), 200, {
      description: "",
      tags: [],
      nodes: [],
      edges: [],
      isTemplate: false,
      hidden: false,
      archived: false,
      publicPlayground: false,
      folderId: null,
      thumbnail: null,
    });
  }),
  full("a workflow can be sent back whole as it was read, and reads the same", async (ctx) => {
    const pro = await ctx.shared("pro", "workflows");
    const slug = await save(pro, { ...greeting(), ...SETTINGS });
    const before = await bodyOf(pro, slug);
    answers(await pro.call("PUT", `/api/workflows/${slug}`, { raw: before }), 200);
    const strip = (text: string): string => text.replace(/"updatedAt":"[^"]*"/, "");
    assert.equal(strip(await bodyOf(pro, slug)), strip(before));
  }),
  ...AWKWARD.map(([what, json]) =>
    full(`nodes, edges and viewport keep ${what} through a read and an update`, async (ctx) => {
      const pro = await ctx.shared("enterprise", "lossless");
      const element = `{"id":"a","type":"odd","position":{"x":0,"y":0},"data":${json}}`;
      const raw = `{"name":"Awkward","nodes":[${element}],"edges":[${element}],"viewport":{"x":0,"y":0,"zoom":1,"more":${json}}}`;
      const slug = pick(answers(await pro.call("POST", "/api/workflows", { raw }), 201), "slug");
      const created = await bodyOf(pro, slug);
      for (const place of [`"nodes":[${element}]`, `"edges":[${element}]`, `"more":${json}`]) {
        assert.ok(created.includes(place), `${place} is not in ${created}`);
      }
      answers(await pro.call("PUT", `/api/workflows/${slug}`, { raw: created }), 200);
      const updated = await bodyOf(pro, slug);
      assert.equal(memberText(updated, "nodes", "createdAt"), memberText(created, "nodes", "createdAt"));
    }),
  ),
  full("unknown members of nodes, edges and unknown kinds are kept", async (ctx) => {
    const pro = await ctx.shared("pro", "workflows");
    const nodes = [{ id: "x", type: "teleport", position: { x: 1, y: 2 }, data: {}, selected: true, style: { width: 3 } }];
    const edges = [{ id: "e", source: "x", target: "y", sourceHandle: null, targetHandle: "b", animated: true }];
    answers(await pro.get(`/api/workflows/${await save(pro, { nodes, edges })}`), 200, { nodes, edges });
  }),
  full("the owner is the caller, as a user id", async (ctx) => {
    const pro = await ctx.shared("pro", "workflows");
    answers(await pro.get(`/api/workflows/${await save(pro, {})}`), 200, { createdBy: pro.userId });
  }),
  full("updatedAt moves with a change and createdAt does not", async (ctx) => {
    const pro = await ctx.shared("pro", "workflows");
    const slug = await save(pro, {});
    const before = await pro.get(`/api/workflows/${slug}`);
    const after = answers(await pro.put(`/api/workflows/${slug}`, { description: "changed" }), 200);
    assert.equal(pick(after, "createdAt"), pick(before, "createdAt"));
    assert.ok(pick(after, "updatedAt") > pick(before, "updatedAt"));
  }),
];

const estimateOf = async (caller: Caller, slug: string): Promise<unknown> => {
  const { body } = answers(await caller.get("/api/workflows"), 200, is.list);
  const own = (body as unknown as { slug: string; estimatedCreditCost: unknown }[]).find((row) => row.slug === slug);
  assert.ok(own, `${slug} is not listed`);
  return own.estimatedCreditCost;
};

const slugsOf = async (caller: Caller): Promise<string[]> =>
  (answers(await caller.get("/api/workflows"), 200, is.list).body as unknown as { slug: string }[]).map(({ slug }) => slug);

const summaries: Case[] = [
  summary("a summary has its fields, and no graph", async (ctx) => {
    const user = await ctx.actor({ tier: "pro" });
    await save(user, { ...picture(), cover: { image: "/media/c.png", video: null } });
    const { body } = answers(await user.get("/api/workflows"), 200, is.list);
    const own = (body as unknown as { createdBy: string }[]).filter(({ createdBy }) => createdBy === user.userId);
    fits(own, [exactly({ ...SUMMARY, cover: { image: is.text, video: null }, estimatedCreditCost: is.number })]);
  }),
  summary("the estimate is null without generators", async (ctx) => {
    const user = await ctx.actor({ tier: "pro" });
    assert.equal(await estimateOf(user, await save(user, greeting())), null);
  }),
  ...(
    [
      ["free", 0.8],
      ["pro", 0.6],
      ["business", 0.52],
      ["enterprise", 0.46],
    ] as const
  ).map(([tier, credits]) =>
    summary(`the estimate depends on the caller's tier: ${tier}`, async (ctx) => {
      const user = await ctx.actor({ tier });
      fits(await estimateOf(user.session, await save(user.session, picture())), is.near(credits), "estimate");
    }),
  ),
  summary("the estimate counts every generator node", async (ctx) => {
    const user = await ctx.actor({ tier: "pro" });
    const graph = picture();
    graph.nodes.push(node("clip", "generate-video", { model: "sandbox-video", inputs: { prompt: "x", seconds: 2 } }));
    fits(await estimateOf(user, await save(user, graph)), is.near(0.6 + 15), "estimate");
  }),
  list("the caller's own workflows are listed", async (ctx) => {
    const user = await ctx.actor({ tier: "pro" });
    const slugs = [await save(user, {}), await save(user, { hidden: true }), await save(user, { archived: true })];
    const listed = await slugsOf(user);
    assert.deepEqual(
      slugs.filter((slug) => !listed.includes(slug)),
      [],
    );
  }),
  list("templates of others are listed", async (ctx) => {
    const slug = await save(await ctx.shared("pro", "workflows"), { isTemplate: true, name: "Shared template" });
    assert.ok((await slugsOf(await ctx.shared("business", "reader"))).includes(slug));
  }),
  list("other workflows of others are not listed", async (ctx) => {
    const slug = await save(await ctx.shared("pro", "workflows"), { publicPlayground: true });
    assert.ok(!(await slugsOf(await ctx.shared("business", "reader"))).includes(slug));
  }),
  list("a session can also list workflows", async (ctx) => {
    const free = await ctx.shared("free");
    answers(await free.session.get("/api/workflows"), 200, is.list);
  }),
];

const reading: Case[] = [
  test("the owner reads the full workflow", async (ctx) => {
    const pro = await ctx.shared("pro", "workflows");
    answers(await pro.get(`/api/workflows/${await save(pro, greeting())}`), 200, WORKFLOW);
  }),
  test("someone else's workflow is absent", async (ctx) => {
    const slug = await save(await ctx.shared("pro", "workflows"), {});
    noWorkflow(await (await ctx.shared("business", "reader")).get(`/api/workflows/${slug}`));
  }),
  test("someone else's template can be read", async (ctx) => {
    const pro = await ctx.shared("pro", "workflows");
    const slug = await save(pro, { ...greeting(), isTemplate: true });
    answers(await (await ctx.shared("business", "reader")).get(`/api/workflows/${slug}`), 200, { ...WORKFLOW, createdBy: pro.userId });
  }),
  test("an unknown slug is absent", async (ctx) => {
    noWorkflow(await (await ctx.shared("pro", "workflows")).get(`/api/workflows/nothing-${unique()}`));
  }),
  test("every part of an unknown workflow is absent", async (ctx) => {
    const pro = await ctx.shared("pro", "workflows");
    const { paths } = (await ctx.anonymous.get("/openapi.json")).body as { paths: Record<string, object> };
    const parts = Object.entries(paths).flatMap(([path, methods]) =>
      path.startsWith("/api/workflows/{slug}/") && "get" in methods ? [path] : [],
    );
    assert.ok(parts.length > 5, `few parts: ${parts.join(", ")}`);
    const slug = `nothing-${unique()}`;
    for (const part of parts) {
      const path = part.replace("{slug}", slug).replace("{id}", randomUUID()).replace("{version}", "1");
      assert.equal((await pro.session.get(path)).status, 404, path);
    }
  }),
  test("a name that can't be a slug is absent", async (ctx) => {
    noWorkflow(await (await ctx.shared("pro", "workflows")).get("/api/workflows/Not_A_Slug"));
  }),
  test("administrators can't read others' workflows here", async (ctx) => {
    const slug = await save(await ctx.shared("pro", "workflows"), {});
    noWorkflow(await ctx.admin.get(`/api/workflows/${slug}`));
  }),
];

const invalidCreations: readonly [what: string, body: unknown][] = [
  ["no name", {}],
  ["an empty name", { name: "" }],
  ["a name that isn't text", { name: 7 }],
  ["tags that aren't a list", { name: "x", tags: "print" }],
  ["nodes that aren't a list", { name: "x", nodes: {} }],
  ["edges that aren't a list", { name: "x", edges: {} }],
  ["a viewport that isn't an object", { name: "x", viewport: [] }],
  ["a flag that isn't a boolean", { name: "x", isTemplate: "yes" }],
  ["a body that is a list", []],
];

const slugCases: readonly [name: string, slug: RegExp][] = [
  ["Hello World", /^hello-world(-\d+)?$/],
  ["  Many   spaces -- and_signs!! ", /^many-spaces-and-signs(-\d+)?$/],
  ["Ünïcödé Nämé", /^unicode-name(-\d+)?$/],
  ["Крёстный", /^[a-z0-9]+(-[a-z0-9]+)*$/],
  ["🧵", /^[a-z0-9]+(-[a-z0-9]+)*$/],
];

const creating: Case[] = [
  create("only a name is required, and the response has the created workflow", async (ctx) => {
    const pro = await ctx.shared("pro", "create");
    answers(await pro.post("/api/workflows", { name: "Just a name" }), 201, { ...WORKFLOW, name: "Just a name" });
  }),
  ...invalidCreations.map(([what, body]) =>
    create(`${what} is rejected, with the path`, async (ctx) => {
      const pro = await ctx.shared("pro", "create");
      refuses(await pro.post("/api/workflows", body), 400, "INVALID_REQUEST", { issues: [{ path: is.string, message: is.text }] });
    }),
  ),
  ...slugCases.map(([name, slug]) =>
    create(`the slug of ${JSON.stringify(name)} is made of its letters and hyphens`, async (ctx) => {
      answers(await (await ctx.shared("pro", "create")).post("/api/workflows", { name }), 201, { name, slug: is.like(slug) });
    }),
  ),
  create("a taken slug is numbered from 2", async (ctx) => {
    const pro = await ctx.shared("pro", "create");
    const name = `Taken ${unique()}`;
    const slug = name.toLowerCase().replace(" ", "-");
    for (const expected of [slug, `${slug}-2`, `${slug}-3`]) {
      answers(await pro.post("/api/workflows", { name }), 201, { slug: expected });
    }
  }),
  create("slugs are numbered across users", async (ctx) => {
    const name = `Across ${unique()}`;
    const first = await save(await ctx.shared("pro", "create"), { name });
    assert.equal(await save(await ctx.shared("business", "reader"), { name }), `${first}-2`);
  }),
  create("concurrent creates of one name get different slugs, without gaps", async (ctx) => {
    const pro = await ctx.shared("pro", "create");
    const name = `Race ${unique()}`;
    const slugs = await Promise.all(Array.from({ length: 6 }, () => save(pro, { name })));
    const base = name.toLowerCase().replace(" ", "-");
    assert.deepEqual(slugs.sort(), [base, ...[2, 3, 4, 5, 6].map((number) => `${base}-${number}`)].sort());
  }),
  create("a slug in the body is ignored", async (ctx) => {
    const name = `Mine ${unique()}`;
    const answer = answers(await (await ctx.shared("pro", "create")).post("/api/workflows", { name, slug: "chosen" }), 201);
    assert.notEqual(pick(answer, "slug"), "chosen");
  }),
  create("the owner is the caller, whatever the body says", async (ctx) => {
    const pro = await ctx.shared("pro", "create");
    answers(await pro.post("/api/workflows", { name: "Mine", createdBy: "someone" }), 201, { createdBy: pro.userId });
  }),
  create("folderId null means the root level", async (ctx) => {
    answers(await (await ctx.shared("pro", "create")).post("/api/workflows", { name: "Root", folderId: null }), 201, { folderId: null });
  }),
  create("a workflow can be created in a folder", async (ctx) => {
    const pro = await ctx.shared("pro", "create");
    const folderId = pick(answers(await pro.post("/api/folders", { name: `F ${unique()}` }), 201), "id");
    answers(await pro.post("/api/workflows", { name: "Inside", folderId }), 201, { folderId });
  }),
  create("a Free user's second workflow is rejected", async (ctx) => {
    const free = (await ctx.actor({ tier: "free" })).session;
    await save(free, {});
    refuses(await free.post("/api/workflows", { name: "Second" }), 403, "WORKFLOW_CAP_REACHED");
  }),
  create("a Free user's templates skip the cap", async (ctx) => {
    const free = (await ctx.actor({ tier: "free" })).session;
    for (const name of ["One", "Two", "Three"]) await save(free, { name, isTemplate: true });
    await save(free, {});
    await save(free, { isTemplate: true });
  }),
  create("a Free user gets one of several workflows created at once", async (ctx) => {
    const free = (await ctx.actor({ tier: "free" })).session;
    const all = await Promise.all(Array.from({ length: 5 }, () => free.post("/api/workflows", { name: "At once" })));
    assert.deepEqual(all.map(({ status }) => status).sort(), [201, 403, 403, 403, 403]);
  }),
  create("a Free user who deletes their only workflow can save another", async (ctx) => {
    const free = (await ctx.actor({ tier: "free" })).session;
    answers(await free.delete(`/api/workflows/${await save(free, {})}`), 204);
    await save(free, {});
  }),
  create("a Free user can't turn a template into a second workflow", async (ctx) => {
    const free = (await ctx.actor({ tier: "free" })).session;
    await save(free, {});
    const template = await save(free, { isTemplate: true });
    refuses(await free.put(`/api/workflows/${template}`, { isTemplate: false }), 403, "WORKFLOW_CAP_REACHED");
  }),
  create("Pro and higher tiers have no cap", async (ctx) => {
    const pro = await ctx.shared("pro", "create");
    await save(pro, {});
    await save(pro, {});
  }),
];

const updating: Case[] = [
  update("given fields overwrite, omitted ones are kept", async (ctx) => {
    const pro = await ctx.shared("pro", "update");
    const graph = greeting();
    const slug = await save(pro, { ...graph, ...SETTINGS });
    const expected = { ...SETTINGS, description: "new", tags: [], name: graph.name, nodes: is.list };
    answers(await pro.put(`/api/workflows/${slug}`, { description: "new", tags: [] }), 200, { ...WORKFLOW, ...expected });
    answers(await pro.get(`/api/workflows/${slug}`), 200, expected);
  }),
  update("an empty change counts as a change", async (ctx) => {
    const pro = await ctx.shared("pro", "update");
    answers(await pro.put(`/api/workflows/${await save(pro, SETTINGS)}`, {}), 200, SETTINGS);
  }),
  update("a slug in the body is ignored", async (ctx) => {
    const pro = await ctx.shared("pro", "update");
    const slug = await save(pro, {});
    answers(await pro.put(`/api/workflows/${slug}`, { slug: "other", description: "x" }), 200, { slug, description: "x" });
  }),
  update("a changed name keeps the slug", async (ctx) => {
    const pro = await ctx.shared("pro", "update");
    const slug = await save(pro, {});
    answers(await pro.put(`/api/workflows/${slug}`, { name: "Renamed" }), 200, { slug, name: "Renamed" });
    answers(await pro.get(`/api/workflows/${slug}`), 200, { slug });
  }),
  update("the owner and the time of creation can't be changed", async (ctx) => {
    const pro = await ctx.shared("pro", "update");
    const slug = await save(pro, {});
    const { createdAt } = (await pro.get(`/api/workflows/${slug}`)).body as { createdAt: string };
    const change = { createdBy: "someone", createdAt: "2001-01-01T00:00:00.000Z" };
    answers(await pro.put(`/api/workflows/${slug}`, change), 200, { createdBy: pro.userId, createdAt });
  }),
  update("someone else's workflow is absent", async (ctx) => {
    const slug = await save(await ctx.shared("pro", "update"), {});
    noWorkflow(await (await ctx.shared("business", "reader")).put(`/api/workflows/${slug}`, { description: "mine" }));
  }),
  update("someone else's template is absent for writing", async (ctx) => {
    const slug = await save(await ctx.shared("pro", "update"), { isTemplate: true });
    noWorkflow(await (await ctx.shared("business", "reader")).put(`/api/workflows/${slug}`, { description: "mine" }));
  }),
  update("an unknown workflow is absent", async (ctx) => {
    noWorkflow(await (await ctx.shared("pro", "update")).put(`/api/workflows/nothing-${unique()}`, {}));
  }),
  update("an invalid field is rejected, and nothing changes", async (ctx) => {
    const pro = await ctx.shared("pro", "update");
    const slug = await save(pro, { description: "before" });
    refuses(await pro.put(`/api/workflows/${slug}`, { description: "after", tags: 7 }), 400, "INVALID_REQUEST", {
      issues: [{ path: "tags", message: is.text }],
    });
    answers(await pro.get(`/api/workflows/${slug}`), 200, { description: "before" });
  }),
  update("the next run uses a changed graph", async (ctx) => {
    const pro = await ctx.shared("pro", "update");
    const slug = await save(pro, greeting());
    const nodes = [node("box", "text-box", { text: "changed" }), node("out", "response-output")];
    answers(await pro.put(`/api/workflows/${slug}`, { nodes, edges: [edge("box.text", "out.text")] }), 200);
    answers(await pro.post(`/api/workflows/${slug}/run`, { inputs: {} }), 200, { result: { text: "changed" } });
  }),
];

const moving: Case[] = [
  move("a move to a folder and back to the root returns the whole workflow", async (ctx) => {
    const pro = await ctx.shared("pro", "move");
    const folderId = pick(answers(await pro.post("/api/folders", { name: `F ${unique()}` }), 201), "id");
    const slug = await save(pro, greeting());
    answers(await pro.put(`/api/workflows/${slug}/move`, { folderId }), 200, { ...WORKFLOW, slug, folderId });
    answers(await pro.get(`/api/workflows/${slug}`), 200, { folderId });
    answers(await pro.put(`/api/workflows/${slug}/move`, { folderId: null }), 200, { ...WORKFLOW, folderId: null });
  }),
  move("someone else's workflow is absent", async (ctx) => {
    const slug = await save(await ctx.shared("pro", "move"), { isTemplate: true });
    noWorkflow(await (await ctx.shared("business", "reader")).put(`/api/workflows/${slug}/move`, { folderId: null }));
  }),
  move("an unknown folder is not a destination", async (ctx) => {
    const pro = await ctx.shared("pro", "move");
    const answer = await pro.put(`/api/workflows/${await save(pro, {})}/move`, { folderId: "nowhere" });
    refuses(answer, 400, "INVALID_REQUEST", { issues: [{ path: "folderId", message: is.text }] });
  }),
  move("someone else's folder is not a destination", async (ctx) => {
    const other = await ctx.shared("business", "reader");
    const folderId = pick(answers(await other.post("/api/folders", { name: `F ${unique()}` }), 201), "id");
    const pro = await ctx.shared("pro", "move");
    const answer = await pro.put(`/api/workflows/${await save(pro, {})}/move`, { folderId });
    refuses(answer, 400, "INVALID_REQUEST", { issues: [{ path: "folderId", message: is.text }] });
  }),
  move("a destination is required", async (ctx) => {
    const pro = await ctx.shared("pro", "move");
    refuses(await pro.put(`/api/workflows/${await save(pro, {})}/move`, {}), 400, "INVALID_REQUEST");
  }),
];

const removing: Case[] = [
  remove("a deleted workflow can't be read, run or changed", async (ctx) => {
    const pro = await ctx.shared("pro", "remove");
    const slug = await save(pro, greeting());
    assert.equal(answers(await pro.delete(`/api/workflows/${slug}`), 204).text, "");
    noWorkflow(await pro.get(`/api/workflows/${slug}`));
    noWorkflow(await pro.get(`/api/workflows/${slug}/schema`));
    noWorkflow(await pro.post(`/api/workflows/${slug}/run`, { inputs: {} }));
    noWorkflow(await pro.put(`/api/workflows/${slug}`, {}));
    noWorkflow(await pro.delete(`/api/workflows/${slug}`));
  }),
  remove("a workflow created again under a deleted name shows no runs of the deleted one", async (ctx) => {
    const pro = await ctx.shared("pro", "remove");
    const graph = { ...greeting(), name: `Again ${unique()}` };
    const runsOf = async (slug: string): Promise<number> => {
      answers(await pro.post(`/api/workflows/${slug}/run`, { inputs: {} }), 200);
      return pick<unknown[]>(await pro.get(`/api/executions?workflowSlug=${slug}`), "rows").length;
    };
    const slug = await save(pro, graph);
    assert.equal(await runsOf(slug), 1);
    answers(await pro.delete(`/api/workflows/${slug}`), 204);
    assert.equal(await save(pro, graph), slug);
    assert.equal(await runsOf(slug), 1);
  }),
  remove("someone else's workflow or template stays", async (ctx) => {
    const pro = await ctx.shared("pro", "remove");
    const other = await ctx.shared("business", "reader");
    for (const slug of [await save(pro, {}), await save(pro, { isTemplate: true })]) {
      noWorkflow(await other.delete(`/api/workflows/${slug}`));
      answers(await pro.get(`/api/workflows/${slug}`), 200);
    }
  }),
  remove("administrators can't delete others' workflows here", async (ctx) => {
    const slug = await save(await ctx.shared("pro", "remove"), { isTemplate: true });
    noWorkflow(await ctx.admin.delete(`/api/workflows/${slug}`));
    noWorkflow(await ctx.admin.put(`/api/workflows/${slug}`, { description: "x" }));
  }),
];

const revisions = inSection("D6");
const conditional: Case[] = [
  revisions("a read has an ETag, and If-Match allows only that revision", async (ctx) => {
    const pro = await ctx.shared("pro", "update");
    const slug = await save(pro, {});
    const tag = (await pro.get(`/api/workflows/${slug}`)).headers.get("etag");
    assert.ok(tag, "there is no ETag");
    answers(await pro.call("GET", `/api/workflows/${slug}`, { headers: { "if-none-match": tag } }), 304);
    const put = (description: string) => pro.call("PUT", `/api/workflows/${slug}`, { body: { description }, headers: { "if-match": tag } });
    const first = answers(await put("first"), 200);
    assert.notEqual(first.headers.get("etag"), tag);
    refuses(await put("second"), 412, "PRECONDITION_FAILED");
    answers(await pro.get(`/api/workflows/${slug}`), 200, { description: "first" });
  }),
  revisions("If-Match also applies to moving, publishing, restoring and deleting", async (ctx) => {
    const pro = await ctx.shared("pro", "update");
    const slug = await save(pro, {});
    const path = `/api/workflows/${slug}`;
    const tag = async (): Promise<string> => (await pro.get(path)).headers.get("etag") ?? "";
    const current = await tag();
    answers(await pro.put(path, { description: "changed" }), 200);
    const at = (method: string, where: string, revision: string, body?: object) =>
      pro.call(method, where, { ...(body ? { body } : {}), headers: { "if-match": revision } });
    refuses(await at("PUT", `${path}/move`, current, { folderId: null }), 412, "PRECONDITION_FAILED");
    refuses(await at("POST", `${path}/versions`, current, {}), 412, "PRECONDITION_FAILED");
    answers(await at("POST", `${path}/versions`, await tag(), {}), 201);
    refuses(await at("POST", `${path}/versions/1/restore`, current), 412, "PRECONDITION_FAILED");
    answers(await at("POST", `${path}/versions/1/restore`, await tag()), 200);
    refuses(await at("DELETE", path, current), 412, "PRECONDITION_FAILED");
    answers(await at("PUT", `${path}/move`, await tag(), { folderId: null }), 200);
    answers(await at("DELETE", path, await tag()), 204);
    noWorkflow(await at("DELETE", path, current));
  }),
];

const schemaFields = inSection("2.3");
const schemaEndpoint = inSection("4.7");

const FIELDS = [
  { name: "prompt", type: "text", label: "Prompt", default: "a loom" },
  { name: "style", type: "select", label: "Style", options: ["woodcut", "ink"], default: "ink" },
  { name: "count", type: "number", label: "Count", default: 2, min: 1, max: 4 },
  { name: "photo", type: "image_upload", label: "Photo" },
];
const fieldsGraph = (values: Record<string, unknown> = {}): object => ({
  name: "Fields",
  description: "With fields",
  nodes: [node("in", "request-input", { fields: FIELDS, values }), node("out", "response-output")],
  edges: [edge("in.prompt", "out.text"), edge("in.style", "out.style"), edge("in.count", "out.count")],
});

const schemas: Case[] = [
  schemaFields("a field has name, type, label and default", async (ctx) => {
    const pro = await ctx.shared("pro", "schema");
    const answer = answers(await pro.get(`/api/workflows/${await save(pro, fieldsGraph())}/schema`), 200);
    fits(pick<object[]>(answer, "fields")[0], { name: "prompt", type: "text", label: "Prompt", default: "a loom" });
  }),
  schemaFields("options are there for a select, and only there", async (ctx) => {
    const pro = await ctx.shared("pro", "schema");
    const answer = answers(await pro.get(`/api/workflows/${await save(pro, fieldsGraph())}/schema`), 200);
    fits(pick(answer, "fields"), [{ options: is.absent }, { options: ["woodcut", "ink"] }, { options: is.absent }, { options: is.absent }]);
  }),
  schemaFields("fields keep the order of the Request Input node", async (ctx) => {
    const pro = await ctx.shared("pro", "schema");
    const answer = answers(await pro.get(`/api/workflows/${await save(pro, fieldsGraph())}/schema`), 200);
    fits(
      pick(answer, "fields"),
      FIELDS.map(({ name }) => ({ name })),
    );
  }),
  schemaFields("values have the saved value of each field", async (ctx) => {
    const pro = await ctx.shared("pro", "schema");
    const slug = await save(pro, fieldsGraph({ prompt: "a heron" }));
    answers(await pro.get(`/api/workflows/${slug}/schema`), 200, { values: { prompt: "a heron", style: "ink", count: 2 } });
  }),
  schemaFields("the schema has name, description and estimate of the workflow", async (ctx) => {
    const pro = await ctx.shared("pro", "schema");
    const slug = await save(pro, { ...picture(), name: "Named", description: "Described" });
    const answer = await pro.get(`/api/workflows/${slug}/schema`);
    answers(answer, 200, exactly({ fields: [], values: {}, name: "Named", description: "Described", estimatedCreditCost: is.near(0.6) }));
  }),
  schemaFields("without a Request Input node there are no fields, and no inputs are required", async (ctx) => {
    const pro = await ctx.shared("pro", "schema");
    const slug = await save(pro, { nodes: [node("out", "response-output")] });
    answers(await pro.get(`/api/workflows/${slug}/schema`), 200, { fields: [], values: {} });
    answers(await pro.post(`/api/workflows/${slug}/run`, { inputs: {} }), 200, { success: true });
  }),
  schemaFields("a default replaces an omitted input", async (ctx) => {
    const pro = await ctx.shared("pro", "schema");
    const expected = { result: { text: "a heron", style: "ink", count: 2 } };
    answers(await runGraph(pro, fieldsGraph(), { prompt: "a heron" }), 200, expected);
  }),
  schemaEndpoint("the schema of someone else's workflow is absent", async (ctx) => {
    const slug = await save(await ctx.shared("pro", "schema"), fieldsGraph());
    noWorkflow(await (await ctx.shared("business", "reader")).get(`/api/workflows/${slug}/schema`));
  }),
  schemaEndpoint("the schema of someone else's template can be read", async (ctx) => {
    const slug = await save(await ctx.shared("pro", "schema"), { ...fieldsGraph(), isTemplate: true });
    answers(await (await ctx.shared("business", "reader")).get(`/api/workflows/${slug}/schema`), 200, { name: "Fields" });
  }),
  schemaEndpoint("a public playground's schema is open, without an estimate", async (ctx) => {
    const slug = await save(await ctx.shared("pro", "schema"), { ...fieldsGraph({ prompt: "p" }), publicPlayground: true });
    const answer = await ctx.anonymous.get(`/api/workflows/${slug}/public-schema`);
    answers(answer, 200, exactly({ fields: is.list, values: { prompt: "p" }, name: "Fields", description: "With fields" }));
  }),
  schemaEndpoint("the public schema of a workflow that isn't public is absent, also for its owner", async (ctx) => {
    const pro = await ctx.shared("pro", "schema");
    const slug = await save(pro, fieldsGraph());
    noWorkflow(await ctx.anonymous.get(`/api/workflows/${slug}/public-schema`));
    noWorkflow(await pro.get(`/api/workflows/${slug}/public-schema`));
  }),
  schemaEndpoint("a template is not a public playground", async (ctx) => {
    const slug = await save(await ctx.shared("pro", "schema"), { ...fieldsGraph(), isTemplate: true });
    noWorkflow(await ctx.anonymous.get(`/api/workflows/${slug}/public-schema`));
  }),
  schemaEndpoint("the public schema is absent after the playground is closed", async (ctx) => {
    const pro = await ctx.shared("pro", "schema");
    const slug = await save(pro, { ...echo({ name: "a", type: "text" }), publicPlayground: true });
    answers(await ctx.anonymous.get(`/api/workflows/${slug}/public-schema`), 200);
    answers(await pro.put(`/api/workflows/${slug}`, { publicPlayground: false }), 200);
    noWorkflow(await ctx.anonymous.get(`/api/workflows/${slug}/public-schema`));
  }),
  schemaEndpoint("the public schema of an unknown workflow is absent", async (ctx) => {
    noWorkflow(await ctx.anonymous.get(`/api/workflows/nothing-${unique()}/public-schema`));
  }),
];

export const workflowCases: Case[] = [
  ...fullObject,
  ...summaries,
  ...reading,
  ...creating,
  ...updating,
  ...moving,
  ...removing,
  ...conditional,
  ...schemas,
];
