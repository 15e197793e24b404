import { randomUUID } from "node:crypto";
import { connectRedis, createLogger, redisReady } from "@nodeloom/platform";
import fc from "fast-check";
import { startPlatform, type Platform, type User } from "../support/platform";

let platform: Platform;
let pro: User;
let other: User;
beforeAll(async () => {
  platform = await startPlatform();
  [pro, other] = await Promise.all([platform.createUser(), platform.createUser()]);
});
afterAll(() => platform.stop());

const as = (user: User, headers: Record<string, string> = {}) => ({ headers: { ...platform.byKey(user), ...headers } });
const create = (json: object, user = pro, headers: Record<string, string> = {}) =>
  platform.send("/api/workflows", { json, ...as(user, headers) });
const nameOf = (what: string): string => `${what} ${randomUUID().slice(0, 8)}`;

/** Puts every idempotency record into the state after a crash: started, lease expired, no response. */
const loseAnswers = async (): Promise<void> => {
  const redis = connectRedis({ url: platform.env.REDIS_URL!, logger: createLogger("test", "silent") });
  await redisReady(redis);
  for (const kind of ["idempotency", "asked"]) {
    for (const key of await redis.keys(`${platform.env.REDIS_KEY_PREFIX}${kind}:*`)) await redis.del(key);
  }
  redis.disconnect();
};

/** The text after a member's name in a response. */
const memberText = (text: string, name: string): string => text.slice(text.indexOf(`"${name}":`) + name.length + 3);

describe("creating a workflow", () => {
  it("returns 201 with the whole workflow, its slug and an ETag", async () => {
    const name = nameOf("Poster maker");
    const { status, body, headers } = await create({ name });
    const slug = name.toLowerCase().replaceAll(" ", "-");
    expect(status).toBe(201);
    expect(body).toMatchObject({
      slug,
      name,
      description: "",
      tags: [],
      isTemplate: false,
      hidden: false,
      archived: false,
      publicPlayground: false,
      folderId: null,
      thumbnail: null,
      cover: null,
      createdBy: pro.id,
      nodes: [],
      edges: [],
      viewport: { x: 0, y: 0, zoom: 1 },
    });
    expect(headers).toMatchObject({ etag: expect.stringMatching(/^"\d+"$/) as string, location: `/api/workflows/${slug}` });
  });

  it("warns about misspelt settings when its graph is saved, and has no warning without them", async () => {
    const get = (data: object): object => ({ id: "get", type: "http-request", data: { url: "https://x.test", ...data } });
    const pic = { id: "pic", type: "generate-image", data: { model: "sandbox-image-fast", promt: "a loom" } };
    const { body } = await create({ name: nameOf("Misspelt"), nodes: [get({ metod: "POST" }), pic], edges: [] });
    const [metod, promt] = [
      { nodeId: "get", message: "there is no setting metod: did you mean method?" },
      { nodeId: "pic", message: "there is no setting promt: did you mean prompt?" },
    ];
    expect(body.warnings).toEqual([metod, promt]);
    const path = `/api/workflows/${String(body.slug)}`;
    const put = async (json: object): Promise<unknown> => (await platform.send(path, { method: "PUT", json, ...as(pro) })).body.warnings;
    expect(await put({ nodes: [get({ metod: "POST" })] })).toEqual([metod]);
    expect(await put({ description: "untouched" })).toBeUndefined();
    expect(await put({ nodes: [get({ method: "POST" })] })).toBeUndefined();
    expect((await platform.send(path, as(pro))).body).not.toHaveProperty("warnings");
  });

  it("stores a name in composed form, and finds it in decomposed form", async () => {
    const name = nameOf("Caf\u00e9");
    const { body } = await create({ name: name.normalize("NFD"), tags: ["Gr\u0075\u0308n"] });
    expect(body).toMatchObject({ name, tags: ["Gr\u00fcn"] });
    const query = `q=${encodeURIComponent(name.normalize("NFD"))}&tag=${encodeURIComponent("Gr\u0075\u0308n")}`;
    const reply = await platform.send(`/api/workflows?${query}`, as(pro));
    expect((reply.body as unknown as { slug: string }[]).map(({ slug }) => slug)).toEqual([body.slug]);
  });

  it("and keys, folders, tags, apps and organizations can't have names that control a terminal", async () => {
    const saved = await create({ name: nameOf("Plain") });
    const path = `/api/workflows/${String(saved.body.slug)}`;
    for (const name of ["a\u001b[2J", "a\nb", "a\u009b0m", "a\u0000", "a\u202eb"]) {
      const session = { headers: platform.bySession(pro) };
      const answers = await Promise.all([
        create({ name }),
        platform.send(path, { method: "PUT", json: { tags: [name] }, ...as(pro) }),
        platform.send(path, { method: "PUT", json: { app: { published: false, dailyCredits: 0, title: name } }, ...session }),
        platform.send("/api/folders", { json: { name }, ...as(pro) }),
        platform.send("/api/keys", { json: { name, preset: "read-only" }, ...session }),
        platform.send("/api/organizations", { json: { name }, ...session }),
      ]);
      for (const { status, body } of answers) {
        expect([status, body.code]).toEqual([400, "INVALID_REQUEST"]);
        expect(JSON.stringify(body.issues)).toContain("control characters");
      }
    }
  });

  it("accepts ids in capitals", async () => {
    const folder = await platform.send("/api/folders", { json: { name: nameOf("Folder") }, ...as(pro) });
    const id = String(folder.body.id).toUpperCase();
    const { body } = await create({ name: nameOf("Filed"), folderId: id });
    expect(body.folderId).toBe(folder.body.id);
    const renamed = await platform.send(`/api/folders/${id}`, { method: "PATCH", json: { name: nameOf("Renamed") }, ...as(pro) });
    expect([renamed.status, renamed.body.id]).toEqual([200, folder.body.id]);
  });

  it("numbers taken slugs, also for many concurrent requests", async () => {
    const name = nameOf("Twin");
    const answers = await Promise.all([1, 2, 3].map(() => create({ name })));
    const slug = name.toLowerCase().replaceAll(" ", "-");
    expect(answers.map(({ body }) => String(body.slug)).sort()).toEqual([slug, `${slug}-2`, `${slug}-3`]);
  });

  it("happens once under an Idempotency-Key", async () => {
    const headers = { "idempotency-key": randomUUID() };
    const json = { name: nameOf("Once") };
    const [first, second] = [await create(json, pro, headers), await create(json, pro, headers)];
    expect(second.text).toBe(first.text);
    expect(second.headers).toMatchObject({ "idempotency-replayed": "true", etag: first.headers.etag, location: first.headers.location });
    expect((await create({ name: "another" }, pro, headers)).body.code).toBe("IDEMPOTENCY_KEY_REUSED");
  });

  it("under an Idempotency-Key returns 404 after its workflow was deleted", async () => {
    const json = { name: nameOf("Gone") };
    const headers = { "idempotency-key": randomUUID() };
    const { body } = await create(json, pro, headers);
    await platform.send(`/api/workflows/${String(body.slug)}`, { method: "DELETE", ...as(pro) });
    const again = await create(json, pro, headers);
    expect([again.status, again.headers["idempotency-replayed"], again.body]).toEqual([404, "true", { error: "workflow not found" }]);
    await loseAnswers();
    expect((await create(json, pro, headers)).status).toBe(404);
  });

  it("under an Idempotency-Key creates no second one after Redis has lost the key", async () => {
    const json = { name: nameOf("Once") };
    const headers = { "idempotency-key": randomUUID() };
    const first = await create(json, pro, headers);
    await loseAnswers();
    const second = await create(json, pro, headers);
    expect([second.status, second.headers["idempotency-replayed"]]).toEqual([201, undefined]);
    expect(second.text).toBe(first.text);
    const { body } = await platform.send("/api/workflows", as(pro));
    expect((body as unknown as { name: string }[]).filter(({ name }) => name === json.name)).toHaveLength(1);
  });

  it.each([
    ["no name", {}],
    ["a blank name", { name: "  " }],
    ["a name that is too long", { name: "x".repeat(201) }],
    ["nodes that aren't a list", { name: "x", nodes: {} }],
    ["too many nodes", { name: "x", nodes: Array.from({ length: 501 }, () => ({})) }],
    ["a viewport that isn't an object", { name: "x", viewport: [] }],
    ["a tag that isn't text", { name: "x", tags: [1] }],
    ["a flag that isn't a boolean", { name: "x", isTemplate: "yes" }],
  ])("rejects %s", async (_what, json) => {
    const { status, body } = await create(json);
    expect([status, body.code]).toEqual([400, "INVALID_REQUEST"]);
    expect(body.issues).not.toHaveLength(0);
  });

  it("is limited to one for Free, except for templates", async () => {
    const free = await platform.createUser({ tier: "free" });
    const headers = platform.bySession(free);
    const post = (json: object) => platform.send("/api/workflows", { json, headers });
    expect((await post({ name: nameOf("First") })).status).toBe(201);
    const second = await post({ name: nameOf("Second") });
    expect([second.status, second.body.code]).toEqual([403, "WORKFLOW_CAP_REACHED"]);
    expect((await post({ name: nameOf("Template"), isTemplate: true })).status).toBe(201);
  });
});

describe("a saved workflow", () => {
  const tricky = [
    '[{"id":"a","type":"note","position":{"x":1.10,"y":-0},"data":{"big":12345678901234567890,"exp":1E5,"__proto__":{"x":1},"a.b":{},"$set":null}}]',
    '[{"z":1,"a":2,"z":3,"emoji":"\\ud83d\\ude00😀","esc":"\\u0041\\/"},[],{},null,"",0.1e-7]',
    "[ ]",
  ];

  it.each(tricky)("is returned as it was written: %s", async (nodes) => {
    const body = `{"name":"${nameOf("Exact")}","nodes":${nodes},"edges":${nodes},"viewport":{"zoom":1.50,"x":0,"y":-0},"cover":{"image":"/media/u.png","video":null}}`;
    const created = await platform.send("/api/workflows", { body, ...as(pro, { "content-type": "application/json" }) });
    const path = `/api/workflows/${String(created.body.slug)}`;
    const reply = await platform.send(path, as(pro));
    for (const text of [created.text, reply.text]) {
      expect(memberText(text, "nodes")).toMatch(new RegExp(`^${nodes.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")},"edges":`));
      expect(text).toContain(`"viewport":{"zoom":1.50,"x":0,"y":-0}`);
      expect(text).toContain(`"cover":{"image":"/media/u.png","video":null}`);
    }
    // The whole response is a valid update that changes nothing.
    const update = await platform.send(path, { method: "PUT", body: reply.text, ...as(pro, { "content-type": "application/json" }) });
    expect(update.status).toBe(200);
    const unchanged = (text: string): string => text.replace(/"updatedAt":"[^"]*"/, "");
    expect(unchanged((await platform.send(path, as(pro))).text)).toBe(unchanged(reply.text));
  });

  it("is returned as it was written, for any JSON", async () => {
    const { body } = await create({ name: nameOf("Any") });
    const path = `/api/workflows/${String(body.slug)}`;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.json({ maxDepth: 3 }), { maxLength: 4 }), async (items) => {
        const nodes = `[${items.join(",")}]`;
        const options = { method: "PUT", body: `{"nodes":${nodes}}`, ...as(pro, { "content-type": "application/json" }) };
        const reply = await platform.send(path, options);
        if (reply.status === 429) return;
        expect(reply.status).toBe(200);
        expect(memberText(reply.text, "nodes").startsWith(`${nodes},"edges":`)).toBe(true);
      }),
      { numRuns: 25 },
    );
  });
});

describe("updating a workflow", () => {
  it("keeps omitted members, and ignores slug and owner in the body", async () => {
    const { body } = await create({ name: nameOf("Kept"), description: "d", tags: ["t"], nodes: [{ id: "n" }] });
    const json = { slug: "another", createdBy: other.id, createdAt: "1", hidden: true, thumbnail: "/media/u.png" };
    const reply = await platform.send(`/api/workflows/${String(body.slug)}`, { method: "PUT", json, ...as(pro) });
    expect(reply.body).toMatchObject({
      slug: body.slug,
      createdBy: pro.id,
      description: "d",
      tags: ["t"],
      nodes: [{ id: "n" }],
      hidden: true,
      thumbnail: "/media/u.png",
    });
    const cleared = await platform.send(`/api/workflows/${String(body.slug)}`, {
      method: "PUT",
      json: { thumbnail: null, tags: [] },
      ...as(pro),
    });
    expect(cleared.body).toMatchObject({ thumbnail: null, tags: [] });
  });

  it("happens only at the revision in If-Match", async () => {
    const { body, headers } = await create({ name: nameOf("Matched") });
    const first = Number(JSON.parse(String(headers.etag)));
    const tag = (changes: number): string => `"${first + changes}"`;
    const path = `/api/workflows/${String(body.slug)}`;
    const put = (etag: string) => platform.send(path, { method: "PUT", json: { description: etag }, ...as(pro, { "if-match": etag }) });
    expect((await put(tag(0))).headers.etag).toBe(tag(1));
    for (const stale of [tag(0), `W/${tag(1)}`, '"x"', '"7", "9"']) {
      const reply = await put(stale);
      expect([stale, reply.status, reply.body.code]).toEqual([stale, 412, "PRECONDITION_FAILED"]);
    }
    expect((await put("*")).headers.etag).toBe(tag(2));
    expect((await put(`"1", ${tag(2)}`)).headers.etag).toBe(tag(3));
    expect((await platform.send(path, as(pro))).headers.etag).toBe(tag(3));
  });

  it("is in a read's ETag, and so is a publication; If-Match still names the draft's revision", async () => {
    const { body } = await create({ name: nameOf("Read again") });
    const path = `/api/workflows/${String(body.slug)}`;
    const read = (tag: string) => platform.send(path, as(pro, { "if-none-match": tag }));
    const tag = String((await read('"0"')).headers.etag);
    expect(await read(`"0", W/${tag}`)).toMatchObject({ status: 304, text: "", headers: { etag: tag } });
    await platform.send(`${path}/versions`, { json: {}, ...as(pro) });
    const published = await read(tag);
    expect([published.status, published.body.publishedVersion]).toEqual([200, 1]);
    expect((await read(String(published.headers.etag))).status).toBe(304);
    const options = { method: "PUT", json: { description: "changed" }, ...as(pro, { "if-match": String(published.headers.etag) }) };
    expect((await platform.send(path, options)).status).toBe(200);
    expect((await read(String(published.headers.etag))).status).toBe(200);
  });

  it("waits for the confirmation of a caller who can run the workflow before apps, hooks and schedules run it", async () => {
    const keyWith = async (capabilities: string[]) => {
      const answer = await platform.send("/api/keys", { json: { name: "some", capabilities }, headers: platform.bySession(pro) });
      return { headers: { "x-api-key": String(answer.body.key) } };
    };
    const [writer, runner] = await Promise.all([
      keyWith(["workflow:write", "workflow:read", "workflow:other:run"]),
      keyWith(["workflow:run"]),
    ]);
    const { slug } = (await create({ name: nameOf("Approved") })).body;
    const path = `/api/workflows/${String(slug)}`;
    const graph = (text: string) => ({ nodes: [{ id: "t", type: "text-box", data: { text } }], edges: [] });
    const isPending = async () => (await platform.send(path, as(pro))).body.pendingChange ?? false;
    const confirm = (by: { headers: object }) => platform.send(`${path}/confirm`, { method: "POST", headers: { ...by.headers } });

    const changed = await platform.send(path, { method: "PUT", json: graph("one"), ...writer });
    expect([changed.status, changed.body.pendingChange]).toEqual([200, true]);
    expect((await confirm(writer)).body).toMatchObject({ code: "CAPABILITY_DENIED", required: `workflow:${String(slug)}:run` });
    expect((await confirm({ headers: { ...runner.headers, "if-match": '"1"' } })).status).toBe(412);
    expect(await confirm(runner)).toMatchObject({ status: 200, body: { pendingChange: false } });
    const etag = String((await platform.send(path, as(pro))).headers.etag);
    for (const by of [writer, as(pro)]) {
      await platform.send(path, { method: "PUT", json: graph("two"), ...writer });
      await platform.send(`${path}/versions`, { json: {}, ...by });
      expect(await isPending()).toBe(by === writer);
    }
    expect((await platform.send(path, as(pro))).headers.etag).not.toBe(etag);
    await platform.send(path, { method: "PUT", json: graph("three"), ...as(pro) });
    expect(await isPending()).toBe(false);
    // A partial body changes nothing.
    expect((await platform.send(path, { method: "PUT", json: { pendingChange: true }, ...as(pro) })).body.pendingChange).toBeUndefined();
    for (const [where, json] of [
      ["/api/workflows", { name: nameOf("New") }],
      [`${path}/clone`, { name: nameOf("Copy") }],
    ] as const)
      expect((await platform.send(where, { json, ...writer })).body.pendingChange).toBe(true);
    expect((await confirm(as(other))).status).toBe(404);
  });

  it("rejects a body without a change", async () => {
    const { body } = await create({ name: nameOf("Odd") });
    for (const json of [[], null, "x", { name: null }, { nodes: null }]) {
      const reply = await platform.send(`/api/workflows/${String(body.slug)}`, { method: "PUT", json, ...as(pro) });
      expect([reply.status, reply.body.code]).toEqual([400, "INVALID_REQUEST"]);
    }
  });
});

describe("others' workflows", () => {
  it("are not found, for any request, without a code", async () => {
    const { body } = await create({ name: nameOf("Mine") });
    const path = `/api/workflows/${String(body.slug)}`;
    const attempts = [
      { path, method: "GET" },
      { path: `${path}/schema`, method: "GET" },
      { path: `${path}/public-schema`, method: "GET" },
      { path, method: "PUT", json: {} },
      { path, method: "DELETE" },
      { path: `${path}/move`, method: "PUT", json: { folderId: null } },
      { path: "/api/workflows/No_Slug", method: "GET" },
    ];
    for (const { path: at, ...options } of attempts) {
      const answer = await platform.send(at, { ...options, ...as(other) });
      expect([at, options.method, answer.status, answer.body]).toEqual([at, options.method, 404, { error: expect.any(String) as string }]);
    }
  });

  it("that are templates can be read and listed, but not changed", async () => {
    const { body } = await create({ name: nameOf("Shared"), isTemplate: true });
    const path = `/api/workflows/${String(body.slug)}`;
    expect((await platform.send(path, as(other))).status).toBe(200);
    const list = await platform.send("/api/workflows", as(other));
    expect((list.body as unknown as { slug: string }[]).map(({ slug }) => slug)).toContain(body.slug);
    expect((await platform.send(path, { method: "DELETE", ...as(other) })).status).toBe(404);
  });
});

describe("moving and deleting", () => {
  it("moves into a folder and back to the root, and out of a deleted folder", async () => {
    const folder = await platform.send("/api/folders", { json: { name: nameOf("Folder") }, ...as(pro) });
    expect(folder.status).toBe(201);
    const { body } = await create({ name: nameOf("Movable") });
    const path = `/api/workflows/${String(body.slug)}`;
    const move = (folderId: unknown) => platform.send(`${path}/move`, { method: "PUT", json: { folderId }, ...as(pro) });
    expect((await move(folder.body.id)).body).toMatchObject({ slug: body.slug, folderId: folder.body.id, nodes: [] });
    expect((await move(null)).body.folderId).toBeNull();
    expect((await move("nowhere")).body.code).toBe("INVALID_REQUEST");
    expect((await move(undefined)).body.code).toBe("INVALID_REQUEST");
    const renamed = await platform.send(`/api/folders/${String(folder.body.id)}`, {
      method: "PATCH",
      json: { name: nameOf("New") },
      ...as(pro),
    });
    expect(renamed.status).toBe(200);
    await move(folder.body.id);
    expect((await platform.send(`/api/folders/${String(folder.body.id)}`, { method: "DELETE", ...as(pro) })).status).toBe(204);
    expect((await platform.send(path, as(pro))).body.folderId).toBeNull();
    expect((await platform.send(`/api/folders/${String(folder.body.id)}`, { method: "DELETE", ...as(other) })).body.code).toBe("NOT_FOUND");
  });

  it("deletes permanently", async () => {
    const { body } = await create({ name: nameOf("Gone") });
    const path = `/api/workflows/${String(body.slug)}`;
    const deleted = await platform.send(path, { method: "DELETE", ...as(pro) });
    expect([deleted.status, deleted.text]).toEqual([204, ""]);
    expect((await platform.send(path, as(pro))).status).toBe(404);
  });
});

describe("schemas and estimates", () => {
  const nodes = [
    {
      id: "in",
      type: "request-input",
      position: { x: 0, y: 0 },
      data: {
        fields: [
          { name: "prompt", type: "text", label: "Prompt", default: "hi" },
          { name: "style", type: "select", label: "Style", options: ["a", "b"] },
        ],
        values: { prompt: "saved" },
      },
    },
    { id: "img", type: "generate-image", position: { x: 0, y: 0 }, data: { model: "sandbox-image", inputs: { count: 2 } } },
  ];

  it("show fields, values and the price for the caller's tier", async () => {
    const { body } = await create({ name: nameOf("Priced"), nodes, publicPlayground: true, isTemplate: true });
    const path = `/api/workflows/${String(body.slug)}`;
    const schema = await platform.send(`${path}/schema`, as(pro));
    expect(schema.body).toMatchObject({
      fields: [
        { name: "prompt", type: "text", label: "Prompt", default: "hi" },
        { name: "style", type: "select", label: "Style", options: ["a", "b"] },
      ],
      values: { prompt: "saved" },
      name: body.name,
      // 2 images of 0.02 USD at a markup of 1.5.
      estimatedCreditCost: 6,
    });
    expect((schema.body.fields as object[])[0]).not.toHaveProperty("options");
    const business = await platform.createUser({ tier: "business" });
    expect((await platform.send(`${path}/schema`, as(business))).body.estimatedCreditCost).toBe(5.2);
    const open = await platform.send(`${path}/public-schema`);
    expect(open.status).toBe(200);
    expect(open.body).not.toHaveProperty("estimatedCreditCost");
    expect(open.headers["x-ratelimit-limit"]).toBe("300");
  });

  it("are null without generators, in schemas and lists, and summaries have no graph", async () => {
    const { body } = await create({ name: nameOf("Free"), nodes: [] });
    expect((await platform.send(`/api/workflows/${String(body.slug)}/schema`, as(pro))).body).toEqual({
      fields: [],
      values: {},
      name: body.name,
      description: "",
      estimatedCreditCost: null,
    });
    const list = await platform.send("/api/workflows", as(pro));
    const row = (list.body as unknown as Record<string, unknown>[]).find(({ slug }) => slug === body.slug)!;
    expect(Object.keys(row).sort()).toEqual([
      "archived",
      "cover",
      "createdBy",
      "description",
      "estimatedCreditCost",
      "folderId",
      "hidden",
      "isTemplate",
      "name",
      "slug",
      "tags",
      "thumbnail",
      "updatedAt",
    ]);
    expect(row.estimatedCreditCost).toBeNull();
  });
});
