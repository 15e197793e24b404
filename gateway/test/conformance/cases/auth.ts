import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { crc32 } from "node:zlib";
import { inSection, type Case } from "../case";
import { answers, exactly, fits, is, noWorkflow, pick, refuses } from "../check";
import { eventually, paced, unique, type Actor, type Context } from "../context";
import { greeting, save } from "../graphs";
import type { Answer } from "../../../../test-support/client";

const endpoints = inSection("4");
const auth = inSection("5");
const keys = inSection("D3");
const keyRecord = inSection("2.9");
const versions = inSection("9");

const NO_EXECUTION = "00000000-0000-4000-8000-000000000000";
/** A key with the retired ranked scopes. */
const LEGACY_KEY = `nl_sk_${"a".repeat(32)}`;

interface Row {
  method: string;
  /** `:slug` is replaced by a workflow of the caller. */
  path: string;
  required: string;
  /** The granted capability; `required` by default. */
  grant?: string;
  body?: unknown;
  /** Status with the capability. */
  status: number;
}

const ENDPOINTS: readonly Row[] = [
  { method: "GET", path: "/api/workflows", required: "workflow:read", status: 200 },
  { method: "GET", path: "/api/workflows/:slug", required: "workflow:read", status: 200 },
  { method: "GET", path: "/api/workflows/:slug/schema", required: "workflow:read", status: 200 },
  { method: "POST", path: "/api/workflows", required: "workflow:write", body: { name: "By grant" }, status: 201 },
  { method: "PUT", path: "/api/workflows/:slug", required: "workflow:write", body: {}, status: 200 },
  { method: "PUT", path: "/api/workflows/:slug/move", required: "workflow:write", body: { folderId: null }, status: 200 },
  { method: "DELETE", path: "/api/workflows/:slug", required: "workflow:write", status: 204 },
  {
    method: "POST",
    path: "/api/workflows/:slug/run",
    required: "workflow::slug:run",
    grant: "workflow:run",
    body: { inputs: {} },
    status: 200,
  },
  {
    method: "POST",
    path: "/api/models/no-such-model/run",
    required: "model:no-such-model:run",
    grant: "model:run",
    body: { inputs: {} },
    status: 404,
  },
  { method: "GET", path: `/api/executions/${NO_EXECUTION}`, required: "execution:read", status: 404 },
  { method: "POST", path: `/api/executions/${NO_EXECUTION}/cancel`, required: "execution:cancel", status: 404 },
];
const EVERYTHING = [
  "workflow:run",
  "workflow:read",
  "workflow:write",
  "model:run",
  "webhook:receive",
  "execution:read",
  "execution:cancel",
  "agent:invoke",
];

const ask = async (owner: Actor, row: Row, grants: string[]) => {
  const slug = await save(owner, greeting());
  const fill = (text: string): string => text.replace(":slug", slug);
  const answer = await (await owner.withKey(grants)).call(row.method, fill(row.path), row.body === undefined ? {} : { body: row.body });
  return { answer, required: fill(row.required) };
};

const capabilityTable: Case[] = ENDPOINTS.flatMap((row) => [
  endpoints(
    `${row.method} ${row.path} is rejected without ${row.grant ?? row.required}, and names the required capability`,
    async (ctx) => {
      const owner = await ctx.shared("business", "grants");
      const without = EVERYTHING.filter((grant) => grant !== (row.grant ?? row.required));
      const { answer, required } = await ask(owner, row, without);
      refuses(answer, 403, "CAPABILITY_DENIED", { required });
    },
  ),
  endpoints(`${row.method} ${row.path} needs no more than ${row.grant ?? row.required}`, async (ctx) => {
    const { answer } = await ask(await ctx.shared("business", "grants"), row, [row.grant ?? row.required]);
    answers(answer, row.status);
  }),
]);

const anyRequest: Case[] = ["/api/usage", "/api/usage/models", "/api/whoami"].map((path) =>
  endpoints(`GET ${path} accepts any key`, async (ctx) => {
    const key = await (await ctx.shared("business", "grants")).withKey(["webhook:receive"]);
    answers(await key.get(path), 200);
  }),
);

/**
 * Name of a rule, a grant, a required capability, and true if a key with this grant can run the workflow `mine` or the model
 * `sandbox-chat`.
 */
const MATCHES: readonly [rule: string, grant: string, required: string, passes: boolean][] = [
  ["the capability itself", "workflow:mine:run", "workflow:mine:run", true],
  ["the capability of another workflow", "workflow:other:run", "workflow:mine:run", false],
  ["the resource's wildcard", "workflow:*", "workflow:mine:run", true],
  ["the resource's wildcard for another action", "workflow:*", "workflow:write", true],
  ["another resource's wildcard", "execution:*", "workflow:mine:run", false],
  ["the general capability", "workflow:run", "workflow:mine:run", true],
  ["every one of the resource", "workflow:*:run", "workflow:mine:run", true],
  ["another action of the resource", "workflow:read", "workflow:mine:run", false],
  ["one workflow, where reading is required", "workflow:mine:run", "workflow:read", false],
  ["running, where writing is required", "workflow:run", "workflow:write", false],
  ["models, where writing workflows is required", "model:run", "workflow:write", false],
  ["models, where running workflows is required", "model:run", "workflow:mine:run", false],
  ["one model", "model:sandbox-chat:run", "model:sandbox-chat:run", true],
  ["another model", "model:sandbox-image:run", "model:sandbox-chat:run", false],
  ["every model", "model:*:run", "model:sandbox-chat:run", true],
  ["the model wildcard", "model:*", "model:sandbox-chat:run", true],
  ["models in general", "model:run", "model:sandbox-chat:run", true],
  ["running workflows, where a model is required", "workflow:run", "model:sandbox-chat:run", false],
];

const probe = async (ctx: Context, grant: string, required: string) => {
  const owner = await ctx.shared("business", "match");
  const slug = await save(owner, greeting());
  const key = await owner.withKey([grant.replace("mine", slug)]);
  if (required === "workflow:write") return { answer: await key.put(`/api/workflows/${slug}`, {}), slug };
  if (required === "workflow:read") return { answer: await key.get(`/api/workflows/${slug}`), slug };
  if (required.startsWith("model:")) return { answer: await key.post("/api/models/sandbox-chat/run", { inputs: { prompt: "x" } }), slug };
  return { answer: await key.post(`/api/workflows/${slug}/run`, { inputs: {} }), slug };
};

const matching: Case[] = MATCHES.map(([rule, grant, required, passes]) =>
  auth(`${passes ? "passes" : "is refused"}: ${rule} (${grant} for ${required})`, async (ctx) => {
    const { answer, slug } = await probe(ctx, grant, required);
    if (passes) answers(answer, 200);
    else refuses(answer, 403, "CAPABILITY_DENIED", { required: required.replace("mine", slug) });
  }),
);

const PRO_GRANTS = [
  "workflow:run",
  "workflow:read",
  "workflow:write",
  "workflow:some-slug:run",
  "webhook:receive",
  "execution:read",
  "execution:cancel",
];
const BUSINESS_GRANTS = ["model:run", "model:sandbox-image:run", "agent:invoke"];
const createKey = (owner: Actor, capability: string) => owner.session.post("/api/keys", { name: "ceiling", capabilities: [capability] });

const ceilings: Case[] = [
  ...PRO_GRANTS.flatMap((capability) =>
    ["pro", "business"].map((tier) =>
      auth(`the ceiling of ${tier} reaches ${capability}`, async (ctx) => {
        answers(await createKey(await ctx.shared(tier, "ceiling"), capability), 201, { capabilities: [capability] });
      }),
    ),
  ),
  ...BUSINESS_GRANTS.flatMap((capability) => [
    auth(`the ceiling of pro does not reach ${capability}`, async (ctx) => {
      refuses(await createKey(await ctx.shared("pro", "ceiling"), capability), 403, "CAPABILITY_ABOVE_CEILING");
    }),
    ...["business", "enterprise"].map((tier) =>
      auth(`the ceiling of ${tier} reaches ${capability}`, async (ctx) => {
        answers(await createKey(await ctx.shared(tier, "ceiling"), capability), 201);
      }),
    ),
  ]),
  ...["pro", "business", "enterprise"].map((tier) =>
    auth(`* is above the ceiling of ${tier}`, async (ctx) => {
      refuses(await createKey(await ctx.shared(tier, "ceiling"), "*"), 403, "CAPABILITY_ABOVE_CEILING");
    }),
  ),
  auth("a wildcard that includes more than the ceiling is above it", async (ctx) => {
    refuses(await createKey(await ctx.shared("pro", "ceiling"), "model:*"), 403, "CAPABILITY_ABOVE_CEILING");
  }),
  auth("one grant above the ceiling rejects the whole key", async (ctx) => {
    const pro = await ctx.shared("pro", "ceiling");
    const answer = await pro.session.post("/api/keys", { name: "mixed", capabilities: ["workflow:read", "model:run"] });
    refuses(answer, 403, "CAPABILITY_ABOVE_CEILING");
  }),
  auth("a Free user can't create a key", async (ctx) => {
    const free = (await ctx.shared("free")).session;
    refuses(await free.post("/api/keys", { name: "x", capabilities: ["execution:read"] }), 403, "API_KEY_ACCESS_DENIED");
    refuses(await free.post("/api/keys", { name: "x", preset: "read-only" }), 403, "API_KEY_ACCESS_DENIED");
  }),
  auth("an unknown capability can't be granted", async (ctx) => {
    const pro = await ctx.shared("pro", "ceiling");
    for (const capability of ["workflow:fly", "nonsense", "workflow:UPPER:run", ""]) {
      refuses(await createKey(pro, capability), 400, "INVALID_REQUEST");
    }
  }),
  versions("the old ranked scopes can't be granted", async (ctx) => {
    const pro = await ctx.shared("pro", "ceiling");
    for (const scope of ["super_admin", "admin", "deployment", "free"]) refuses(await createKey(pro, scope), 400, "INVALID_REQUEST");
  }),
  versions("paths carry no version", async (ctx) => {
    const pro = await ctx.shared("pro", "ceiling");
    refuses(await pro.get("/api/v1/workflows"), 404, "ROUTE_NOT_FOUND");
    refuses(await pro.get("/v1/api/workflows"), 404, "ROUTE_NOT_FOUND");
  }),
  auth("a custom tier has the ceiling of its base", async (ctx) => {
    const pro = await ctx.actor({ tier: await ctx.tier("like-pro"), noKey: true });
    refuses(await createKey(pro, "model:run"), 403, "CAPABILITY_ABOVE_CEILING");
    const business = await ctx.actor({ tier: await ctx.tier("like-business", { base: "business" }), noKey: true });
    answers(await createKey(business, "model:run"), 201);
  }),
  auth("a key loses grants above its owner's current ceiling", async (ctx) => {
    const user = await ctx.actor({ tier: "business", grants: ["model:run", "workflow:read"] });
    answers(await ctx.admin.patch(`/api/admin/users/${user.userId}`, { tier: "pro" }), 200);
    await eventually(
      () => user.post("/api/models/sandbox-chat/run", { inputs: {} }),
      ({ status }) => status === 403,
    );
    answers(await user.get("/api/workflows"), 200);
  }),
  auth("the keys of an owner who is now Free are rejected", async (ctx) => {
    const user = await ctx.actor({ tier: "pro" });
    answers(await ctx.admin.patch(`/api/admin/users/${user.userId}`, { tier: "free" }), 200);
    const answer = await eventually(
      () => user.get("/api/whoami"),
      ({ status }) => status !== 200,
    );
    refuses(answer, 403, "API_KEY_ACCESS_DENIED");
  }),
];

const administrators: Case[] = [
  auth("an administrator's key can have *, which covers everything", async (ctx) => {
    const admin = await ctx.actor({ tier: "free", role: "admin", grants: ["*"] });
    answers(await admin.get("/api/workflows"), 200);
    answers(await admin.get("/api/admin/users?limit=1"), 200);
    answers(await admin.post("/api/models/sandbox-chat/quote", { inputs: { prompt: "x" } }), 200);
  }),
  auth("administrators pass tier gates", async (ctx) => {
    const admin = await ctx.actor({ tier: "free", role: "admin", grants: ["*"] });
    const inputs = { prompt: "x", seconds: 1 };
    answers(await admin.post("/api/models/sandbox-video-pro/quote", { inputs }), 200, { estimatedCreditCost: is.positive });
  }),
  auth("administrators have no rate limit", async (ctx) => {
    const admin = await ctx.actor({ tier: "pro", role: "admin", grants: ["*"] });
    assert.equal(answers(await admin.get("/api/whoami"), 200).headers.get("x-ratelimit-limit"), null);
  }),
  auth("administrators own only their own resources", async (ctx) => {
    const admin = await ctx.actor({ tier: "free", role: "admin", grants: ["*"] });
    const slug = await save(await ctx.shared("pro", "ceiling"), greeting());
    noWorkflow(await admin.put(`/api/workflows/${slug}`, {}));
    noWorkflow(await admin.put(`/api/workflows/${slug}/move`, { folderId: null }));
    noWorkflow(await admin.delete(`/api/workflows/${slug}`));
    noWorkflow(await admin.post(`/api/workflows/${slug}/run`, { inputs: {} }));
  }),
];

const unauthenticated = (answer: Awaited<ReturnType<Actor["get"]>>) => refuses(answer, 401, "UNAUTHENTICATED");
const BAD_KEYS: readonly [what: string, key: (good: string) => string][] = [
  ["garbage", () => "hello"],
  ["a value with a wrong checksum", (good) => good.slice(0, -1) + (good.endsWith("0") ? "1" : "0")],
  ["a cut value", (good) => good.slice(0, -1)],
  ["a very long value", () => "x".repeat(4_000)],
];
const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const base62 = (value: number): string => {
  let text = "";
  for (let rest = value; rest > 0; rest = Math.floor(rest / 62)) text = BASE62.charAt(rest % 62) + text;
  return text.padStart(6, "0");
};
const withChecksum = (body: string): string => `${body}_${base62(crc32(body))}`;

const credentials: Case[] = [
  auth("a request without key and session is rejected", async (ctx) => void unauthenticated(await ctx.anonymous.get("/api/whoami"))),
  ...BAD_KEYS.map(([what, key]) =>
    auth(`${what} instead of a key is rejected`, async (ctx) => {
      const pro = await ctx.shared("pro", "credentials");
      unauthenticated(await ctx.anonymous.call("GET", "/api/whoami", { key: key(pro.key) }));
    }),
  ),
  auth("an unknown key is rejected without a hint", async (ctx) => {
    const { key } = await ctx.shared("pro", "credentials");
    const random = (digit: string): string => withChecksum(key.replace(/_[^_]{30}_[^_]{6}$/, `_${digit.repeat(30)}`));
    const [one, other] = await Promise.all(["0", "7"].map((digit) => ctx.anonymous.call("GET", "/api/whoami", { key: random(digit) })));
    assert.deepEqual(unauthenticated(one!).body, unauthenticated(other!).body);
    // The message names only causes that the request itself shows.
    const revoked = await (await ctx.shared("pro", "credentials")).withKey(["workflow:read"]);
    answers(await revoked.session.delete(`/api/keys/${revoked.keyId}`), 204);
    const answer = await eventually(
      () => revoked.get("/api/whoami"),
      ({ status }) => status !== 200,
    );
    assert.deepEqual(unauthenticated(answer).body, one!.body);
  }),
  auth("a key from before May 2026 is retired", async (ctx) => {
    refuses(await ctx.anonymous.call("GET", "/api/whoami", { key: LEGACY_KEY }), 401, "LEGACY_KEY_RETIRED");
  }),
  auth("a revoked key is rejected like an unknown one", async (ctx) => {
    const user = await ctx.actor({ tier: "pro" });
    answers(await user.get("/api/whoami"), 200);
    answers(await user.session.delete(`/api/keys/${user.keyId}`), 204);
    unauthenticated(
      await eventually(
        () => user.get("/api/whoami"),
        ({ status }) => status !== 200,
      ),
    );
  }),
  auth("an expired key is rejected like an unknown one", async (ctx) => {
    const owner = await ctx.shared("pro", "credentials");
    await paced(async (seconds) => {
      const expires = Date.now() + seconds * 1_000;
      const user = await owner.withKey(["workflow:read"], { expiresAt: new Date(expires).toISOString() });
      const first = await user.get("/api/whoami");
      if (Date.now() > expires) return false;
      answers(first, 200);
      unauthenticated(
        await eventually(
          () => user.get("/api/whoami"),
          ({ status }) => status !== 200,
        ),
      );
      assert.ok(Date.now() >= expires);
      return true;
    });
  }),
  auth("an invalid key is rejected even with a valid session", async (ctx) => {
    const pro = await ctx.shared("pro", "credentials");
    unauthenticated(await pro.session.call("GET", "/api/whoami", { key: "hello" }));
  }),
];

const RECORD = {
  id: is.text,
  name: is.text,
  start: is.like(/^.{12}$/),
  preset: is.string,
  capabilities: is.list,
  createdAt: is.time,
  lastUsedAt: is.nullOr(is.time),
  expiresAt: is.nullOr(is.time),
};

const recordOf = async (user: Actor, id: string): Promise<Record<string, unknown>> => {
  const { body } = answers(await user.session.get("/api/keys"), 200, is.list);
  const listedKey = (body as unknown as { id: string }[]).find((one) => one.id === id);
  assert.ok(listedKey, "the key is not listed");
  return listedKey;
};

const PRESETS: readonly [preset: string, tier: string, capabilities: string[]][] = [
  ["read-only", "pro", ["workflow:read", "execution:read"]],
  ["workflow-deploy", "pro", ["workflow:run", "workflow:read"]],
  ["webhook-receiver", "pro", ["webhook:receive", "execution:read"]],
  ["full-deploy", "pro", ["workflow:run", "workflow:read", "workflow:write", "webhook:receive", "execution:read", "execution:cancel"]],
  ["full-deploy", "business", EVERYTHING],
];

const records: Case[] = [
  keyRecord("creating a key returns the record and the value with 201", async (ctx) => {
    const pro = await ctx.shared("pro", "keys");
    const answer = answers(await pro.session.post("/api/keys", { name: "Deploy", preset: "read-only" }), 201, {
      ...RECORD,
      name: "Deploy",
      preset: "read-only",
      webhook: null,
      lastUsedAt: null,
      expiresAt: null,
      key: is.like(/^nl_[a-z]+_[0-9A-Za-z]{30}_[0-9A-Za-z]{6}$/),
    });
    assert.equal(pick(answer, "start"), pick(answer, "key").slice(0, 12));
  }),
  keyRecord("the value is shown once; lists have only the record", async (ctx) => {
    const pro = await ctx.shared("pro", "keys");
    const created = answers(await pro.session.post("/api/keys", { name: "Once", preset: "read-only" }), 201);
    fits(await recordOf(pro, pick(created, "id")), exactly({ ...RECORD, webhook: null }), "record");
    const { text } = await pro.session.get("/api/keys");
    assert.ok(!text.includes(pick(created, "key")));
  }),
  keyRecord("a revoked key keeps its last name, and is listed only with deleted=true", async (ctx) => {
    const pro = await ctx.shared("pro", "keys");
    const created = answers(await pro.session.post("/api/keys", { name: "Render farm", preset: "read-only" }), 201);
    const id = pick<string>(created, "id");
    answers(await pro.session.delete(`/api/keys/${id}`), 204);
    const keysIn = async (query: string): Promise<Record<string, unknown>[]> =>
      answers(await pro.session.get(`/api/keys${query}`), 200).body as unknown as Record<string, unknown>[];
    for (const query of ["", "?deleted=false"]) assert.ok((await keysIn(query)).every((key) => key.id !== id));
    const deletedKey = (await keysIn("?deleted=true")).find((key) => key.id === id);
    fits(deletedKey, exactly({ ...RECORD, webhook: null, name: "Render farm", deletedAt: is.time }), "record");
    refuses(await pro.session.get("/api/keys?deleted=maybe"), 400, "INVALID_REQUEST");
  }),
  keyRecord("the request log of a key has routes and outcomes, and no query, header or body", async (ctx) => {
    const owner = await ctx.shared("pro", "keys");
    const user = await owner.withKey(["workflow:read", "workflow:run"]);
    const secret = `never-${randomUUID()}`;
    answers(await user.get("/api/workflows?limit=1&q=" + secret), 200);
    noWorkflow(await user.post(`/api/workflows/${secret}/run`, { inputs: { secret } }));
    refuses(await user.call("GET", `/api/executions/${randomUUID()}`, { headers: { "x-note": secret } }), 403, "CAPABILITY_DENIED");
    const log = (query = "") => owner.session.get(`/api/keys/${user.keyId}/requests${query}`);
    const rowsOf = (answer: Answer) => pick<Record<string, unknown>[]>(answer, "rows");
    const listed = answers(await eventually(log, (answer) => rowsOf(answer).length === 3), 200, { nextCursor: null });
    const common = { at: is.time, durationMs: is.number, requestId: is.text, executionId: null, ip: is.text };
    fits(
      rowsOf(listed),
      [
        { ...common, method: "GET", route: "/api/executions/:id", status: 403, errorCode: "CAPABILITY_DENIED" },
        { ...common, method: "POST", route: "/api/workflows/:slug/run", status: 404, errorCode: "WORKFLOW_NOT_FOUND" },
        { ...common, method: "GET", route: "/api/workflows", status: 200, errorCode: null },
      ].map(exactly),
      "rows",
    );
    assert.ok(!listed.text.includes(secret) && !listed.text.includes(user.key));
    assert.equal(rowsOf(answers(await log("?status=4xx"), 200)).length, 2);
    assert.equal(rowsOf(answers(await log("?status=404"), 200)).length, 1);
    refuses(await log("?status=9xx"), 400, "INVALID_REQUEST");
    refuses(await user.get(`/api/keys/${user.keyId}/requests`), 403, "SESSION_REQUIRED");
    const stranger = await ctx.shared("business", "keys of others");
    refuses(await stranger.session.get(`/api/keys/${user.keyId}/requests`), 404, "NOT_FOUND");
  }),
  keyRecord("the value ends with a checksum of the rest", async (ctx) => {
    const { key } = await ctx.shared("pro", "keys");
    assert.equal(withChecksum(key.slice(0, -7)), key);
  }),
  keyRecord("a folder has an id; it can be listed, renamed and deleted", async (ctx) => {
    const pro = await ctx.shared("pro", "keys");
    const folder = answers(await pro.post("/api/folders", { name: "Folder" }), 201, { id: is.text, name: "Folder" });
    const path = `/api/folders/${pick(folder, "id")}`;
    answers(await pro.patch(path, { name: "Renamed" }), 200, { id: pick(folder, "id"), name: "Renamed" });
    const slug = await save(pro, { folderId: pick(folder, "id") });
    answers(await pro.delete(path), 204);
    answers(await pro.get(`/api/workflows/${slug}`), 200, { folderId: null });
    answers(await pro.delete(path), 404, { code: is.text });
  }),
  keyRecord("someone else's folder is absent", async (ctx) => {
    const folder = answers(await (await ctx.shared("pro", "keys")).post("/api/folders", { name: "Folder" }), 201);
    const other = await ctx.shared("business", "reader");
    answers(await other.patch(`/api/folders/${pick(folder, "id")}`, { name: "Mine" }), 404, { code: is.text });
    answers(await other.delete(`/api/folders/${pick(folder, "id")}`), 404, { code: is.text });
  }),
  ...PRESETS.map(([preset, tier, capabilities]) =>
    auth(`the preset ${preset} of ${tier} grants its documented capabilities`, async (ctx) => {
      const user = await ctx.shared(tier, "keys");
      const created = answers(await user.session.post("/api/keys", { name: "x", preset }), 201, { preset });
      assert.deepEqual([...pick<string[]>(created, "capabilities")].sort(), [...capabilities].sort());
    }),
  ),
  ...["Read-only", "Workflow Deploy", "Webhook receiver", "Full deploy"].map((preset) =>
    auth(`the preset ${preset} can be named by its display name`, async (ctx) => {
      const user = await ctx.shared("pro", "keys");
      const id = preset.toLowerCase().replace(" ", "-");
      const created = answers(await user.session.post("/api/keys", { name: "x", preset }), 201, { preset: id });
      answers(await user.session.post("/api/keys", { name: "x", preset: id }), 201, { capabilities: pick(created, "capabilities") });
    }),
  ),
  keyRecord("members that a key doesn't have can be null", async (ctx) => {
    const user = await ctx.shared("pro", "keys");
    const body = { name: "x", preset: "read-only", expiresAt: null, webhook: null };
    answers(await user.session.post("/api/keys", body), 201, { expiresAt: null, webhook: null });
  }),
  auth("exactly one of preset and grants is required", async (ctx) => {
    const { session } = await ctx.shared("pro", "keys");
    for (const body of [
      { name: "x" },
      { name: "x", preset: "read-only", capabilities: ["workflow:read"] },
      { name: "x", preset: "root" },
    ]) {
      refuses(await session.post("/api/keys", body), 400, "INVALID_REQUEST");
    }
  }),
  keys("a key's record shows its last use", async (ctx) => {
    const user = await (await ctx.shared("pro", "keys")).withKey(["workflow:read"]);
    answers(await user.get("/api/whoami"), 200);
    await eventually(
      () => recordOf(user, user.keyId),
      ({ lastUsedAt }) => typeof lastUsedAt === "string",
    );
  }),
  keys("a key can be renamed", async (ctx) => {
    const user = await (await ctx.shared("pro", "keys")).withKey(["workflow:read"]);
    answers(await user.session.patch(`/api/keys/${user.keyId}`, { name: "Other" }), 200, { ...RECORD, name: "Other" });
  }),
  keys("someone else's key is absent", async (ctx) => {
    const { keyId } = await ctx.shared("pro", "keys");
    const { session } = await ctx.shared("business", "keys");
    for (const answer of [
      await session.patch(`/api/keys/${keyId}`, { name: "Mine" }),
      await session.delete(`/api/keys/${keyId}`),
      await session.post(`/api/keys/${keyId}/rotate`, { graceSeconds: 0 }),
      await session.put(`/api/keys/${keyId}/webhook`, { url: "https://example.com/hook" }),
      await session.delete(`/api/keys/${keyId}/webhook`),
    ]) {
      answers(answer, 404, { error: is.text, code: is.text });
    }
  }),
  keys("keys are managed only by session", async (ctx) => {
    const user = await ctx.shared("business", "keys");
    refuses(await user.get("/api/keys"), 403, "SESSION_REQUIRED");
    refuses(await user.post("/api/keys", { name: "x", preset: "read-only" }), 403, "SESSION_REQUIRED");
    refuses(await user.delete(`/api/keys/${user.keyId}`), 403, "SESSION_REQUIRED");
    refuses(await user.post(`/api/keys/${user.keyId}/rotate`, { graceSeconds: 0 }), 403, "SESSION_REQUIRED");
  }),
  keys("an expiry in the past is rejected", async (ctx) => {
    const { session } = await ctx.shared("pro", "keys");
    const expiresAt = new Date(Date.now() - 60_000).toISOString();
    refuses(await session.post("/api/keys", { name: "x", preset: "read-only", expiresAt }), 400, "INVALID_REQUEST");
  }),
];

const rotated = async (user: Actor, graceSeconds: number): Promise<string> =>
  pick(answers(await user.session.post(`/api/keys/${user.keyId}/rotate`, { graceSeconds }), 200, { ...RECORD, id: user.keyId }), "key");

const whoami = (ctx: Context, key: string) => ctx.anonymous.call("GET", "/api/whoami", { key });

const rotation: Case[] = [
  keys("rotating returns the record and a new value, and ends the old one unless there is a grace period", async (ctx) => {
    const user = await (await ctx.shared("pro", "rotation")).withKey(["workflow:read"]);
    const value = await rotated(user, 0);
    assert.notEqual(value, user.key);
    answers(await whoami(ctx, value), 200);
    await eventually(
      () => user.get("/api/whoami"),
      ({ status }) => status === 401,
    );
  }),
  keys("the old value works until the grace period ends, which the new value's first use starts", async (ctx) => {
    await paced(async (seconds) => {
      const user = await (await ctx.shared("pro", "rotation")).withKey(["workflow:read"]);
      const value = await rotated(user, seconds);
      await new Promise((resolve) => setTimeout(resolve, seconds * 1_000 + 500));
      answers(await user.get("/api/whoami"), 200);
      const used = Date.now();
      answers(await whoami(ctx, value), 200);
      const still = await user.get("/api/whoami");
      if (Date.now() >= used + seconds * 1_000) return false;
      answers(still, 200);
      await eventually(
        () => user.get("/api/whoami"),
        ({ status }) => status === 401,
      );
      answers(await whoami(ctx, value), 200);
      return true;
    });
  }),
  keys("the grace period is 0 to 86400 seconds", async (ctx) => {
    const user = await (await ctx.shared("pro", "rotation")).withKey(["workflow:read"]);
    for (const graceSeconds of [-1, 86_401, 1.5, "1", null]) {
      refuses(await user.session.post(`/api/keys/${user.keyId}/rotate`, { graceSeconds }), 400, "INVALID_REQUEST");
    }
  }),
];

const WEBHOOK_URL = "https://example.com/hooks";
const webhookSettings: Case[] = [
  keys("a key can be created with a webhook, whose secret is shown only once", async (ctx) => {
    const user = await ctx.shared("pro", "webhooks");
    const body = { name: "x", preset: "webhook-receiver", webhook: { url: WEBHOOK_URL, events: ["execution.completed"] } };
    const created = answers(await user.session.post("/api/keys", body), 201, {
      webhook: { url: WEBHOOK_URL, events: ["execution.completed"], disabledAt: null },
      webhookSecret: is.like(/^whsec_[A-Za-z0-9+/]{43}=$/),
    });
    const record = await recordOf(user, pick(created, "id"));
    fits(record, { webhook: { url: WEBHOOK_URL }, webhookSecret: is.absent, key: is.absent });
  }),
  keys("a webhook can be set, replaced with another secret, and removed", async (ctx) => {
    const user = await (await ctx.shared("pro", "webhooks")).withKey(["webhook:receive"]);
    const path = `/api/keys/${user.keyId}/webhook`;
    const first = answers(await user.session.put(path, { url: WEBHOOK_URL }), 200, { webhook: { url: WEBHOOK_URL } });
    const second = answers(await user.session.put(path, { url: `${WEBHOOK_URL}/2` }), 200, { webhook: { url: `${WEBHOOK_URL}/2` } });
    assert.notEqual(pick(first, "webhookSecret"), pick(second, "webhookSecret"));
    answers(await user.session.delete(path), 200, { webhook: null });
  }),
  keys("a key without webhook:receive can't have a webhook", async (ctx) => {
    const user = await (await ctx.shared("pro", "webhooks")).withKey(["workflow:run"]);
    const webhook = { url: WEBHOOK_URL };
    for (const answer of [
      await user.session.put(`/api/keys/${user.keyId}/webhook`, webhook),
      await user.session.post("/api/keys", { name: "mute", capabilities: ["workflow:run"], webhook }),
    ]) {
      refuses(answer, 403, "CAPABILITY_DENIED", { required: "webhook:receive" });
    }
  }),
  keys("a webhook's URL is http or https, and its events are known", async (ctx) => {
    const user = await (await ctx.shared("pro", "webhooks")).withKey(["webhook:receive"]);
    for (const body of [{ url: "ftp://example.com" }, { url: "nowhere" }, {}, { url: WEBHOOK_URL, events: ["execution.started"] }]) {
      refuses(await user.session.put(`/api/keys/${user.keyId}/webhook`, body), 400, "INVALID_REQUEST");
    }
  }),
];

const cookieLine = (headers: Headers): string => headers.getSetCookie().find((line) => line.startsWith("nodeloom_session=")) ?? "";

const sessions: Case[] = [
  keys("registering returns the new user, unapproved and Free, and signs in", async (ctx) => {
    const body = { email: `${unique()}@conformance.test`, password: "long enough" };
    const answer = answers(await ctx.anonymous.post("/api/auth/register", body), 201, {
      user: exactly({ id: is.text, email: body.email, role: "user", tier: "free", approved: false }),
    });
    assert.match(cookieLine(answer.headers), /^nodeloom_session=.+;/);
  }),
  keys("the session cookie is HttpOnly and SameSite=Lax", async (ctx) => {
    const { email, password } = await ctx.shared("free");
    const { headers } = answers(await ctx.anonymous.post("/api/auth/login", { email, password }), 200);
    assert.match(cookieLine(headers), /;\s*HttpOnly/i);
    assert.match(cookieLine(headers), /;\s*SameSite=Lax/i);
  }),
  keys("an address can't be registered twice", async (ctx) => {
    const { email } = await ctx.shared("free");
    answers(await ctx.anonymous.post("/api/auth/register", { email, password: "another one" }), 409, { error: is.text, code: is.text });
    const upper = await ctx.anonymous.post("/api/auth/register", { email: email.toUpperCase(), password: "another one" });
    answers(upper, 409, { code: is.text });
  }),
  keys("registering needs an address and a password", async (ctx) => {
    for (const body of [
      {},
      { email: "x@y.test" },
      { email: "nobody", password: "long enough" },
      { email: "x@y.test", password: "short" },
    ]) {
      refuses(await ctx.anonymous.post("/api/auth/register", body), 400, "INVALID_REQUEST");
    }
  }),
  keys("a wrong password and an unknown address are rejected alike", async (ctx) => {
    const { email } = await ctx.actor({ tier: "free" });
    const wrong = refuses(await ctx.anonymous.post("/api/auth/login", { email, password: "not this" }), 401, "UNAUTHENTICATED");
    const unknown = await ctx.anonymous.post("/api/auth/login", { email: `${unique()}@conformance.test`, password: "not this" });
    refuses(unknown, 401, "UNAUTHENTICATED");
    assert.deepEqual(wrong.body, unknown.body);
  }),
  keys("signing in is throttled per account", async (ctx) => {
    const { email } = await ctx.actor({ tier: "free" });
    const attempts = Array.from({ length: 30 }, () => () => ctx.anonymous.post("/api/auth/login", { email, password: "not this" }));
    for (const attempt of attempts) {
      const answer = await attempt();
      if (answer.status === 401) continue;
      refuses(answer, 429, "RATE_LIMIT_EXCEEDED", { tier: is.text, limit: is.positive, retryAfter: is.positive });
      const header = (name: string): number => Number(answer.headers.get(name) ?? "NaN");
      assert.equal(header("retry-after"), pick<number>(answer, "retryAfter"));
      // The headers describe the limit that was reached.
      assert.equal(header("x-ratelimit-limit"), pick<number>(answer, "limit"));
      assert.equal(header("x-ratelimit-remaining"), 0);
      assert.ok(header("x-ratelimit-reset") > Date.now() / 1_000);
      return;
    }
    assert.fail("30 wrong passwords were not throttled");
  }),
  keys("signing out ends the session", async (ctx) => {
    const { email, password } = await ctx.shared("free");
    const { session } = await ctx.signIn({ email, password });
    answers(await session.post("/api/auth/logout"), 204);
    unauthenticated(await session.get("/api/whoami"));
  }),
  keys("a write with a cookie from another origin is rejected", async (ctx) => {
    const { session } = await ctx.shared("pro", "sessions");
    const write = (headers: Record<string, string>) => session.call("POST", "/api/workflows", { body: { name: "x" }, headers });
    refuses(await write({ origin: "https://evil.example" }), 403, "CROSS_ORIGIN_DENIED");
    refuses(await write({ origin: "null" }), 403, "CROSS_ORIGIN_DENIED");
    answers(await write({}), 201);
  }),
  keys("a write with a cookie and neither Origin nor Sec-Fetch-Site is rejected", async (ctx) => {
    const { cookie } = await ctx.shared("pro", "sessions");
    const write = (headers: Record<string, string>) =>
      ctx.anonymous.call("POST", "/api/workflows", { body: { name: "x" }, headers: { cookie, ...headers } });
    refuses(await write({}), 403, "CROSS_ORIGIN_DENIED");
    refuses(await write({ "sec-fetch-site": "cross-site" }), 403, "CROSS_ORIGIN_DENIED");
    answers(await write({ "sec-fetch-site": "same-origin" }), 201);
  }),
  keys("a write by key can come from any origin", async (ctx) => {
    const pro = await ctx.shared("pro", "sessions");
    answers(await pro.call("POST", "/api/workflows", { body: { name: "x" }, headers: { origin: "https://shop.example" } }), 201);
  }),
  keys("a Free session can edit and run workflows, but run no models directly", async (ctx) => {
    const free = await ctx.actor({ tier: "free" });
    const slug = await save(free.session, greeting());
    answers(await free.session.post(`/api/workflows/${slug}/run`, { inputs: {} }), 200);
    const denied = await free.session.post("/api/models/sandbox-chat/run", { inputs: { prompt: "x" } });
    refuses(denied, 403, "CAPABILITY_DENIED", { required: "model:sandbox-chat:run" });
  }),
  keys("a new account can't run until it is approved", async (ctx) => {
    const user = await ctx.actor({ tier: "free", approved: false });
    const slug = await save(user.session, greeting());
    refuses(await user.session.post(`/api/workflows/${slug}/run`, { inputs: {} }), 403, "ACCOUNT_NOT_APPROVED");
    answers(await ctx.admin.patch(`/api/admin/users/${user.userId}`, { approved: true }), 200, { approved: true });
    await eventually(
      () => user.session.post(`/api/workflows/${slug}/run`, { inputs: {} }),
      ({ status }) => status === 200,
    );
  }),
];

export const authCases: Case[] = [
  ...capabilityTable,
  ...anyRequest,
  ...matching,
  ...ceilings,
  ...administrators,
  ...credentials,
  ...records,
  ...rotation,
  ...webhookSettings,
  ...sessions,
];
