import assert from "node:assert/strict";
import { inSection, type Case } from "../case";
import { answers, is, pick, refuses } from "../check";
import { eventually, type Actor, type Context } from "../context";
import { greeting, save } from "../graphs";

/** Audited capabilities by name, and the keys with these capabilities. */

interface AuditRow {
  action: string;
  actor: string;
}

const automation = inSection("D30");
const BY_NAME = ["budgets:write", "secrets:write", "members:read", "usage:read", "webhooks:write", "schedules:write"];
const owner = (ctx: Context): Promise<Actor> => ctx.shared("business", "automation");
const of = (ownerId: string): string => `/api/organizations/${ownerId}/service-accounts`;
/** A service account in a person's account, and a caller with its first key. */
const serviceOf = async (actor: Actor, capabilities: string[], grants = capabilities): Promise<{ id: string; key: Actor }> => {
  const created = answers(await actor.session.post(of(actor.userId), { name: "Deploys", capabilities }), 201, { kind: "service" });
  const id = pick<string>(created, "id");
  return { id, key: await actor.withKey(grants, { serviceAccountId: id }) };
};
const MONTH = { credits: 5, window: "month" };

export const serviceAccountCases: Case[] = [
  automation("a key without a capability by name is rejected, and the error names the capability that admits keys", async (ctx) => {
    const actor = await owner(ctx);
    refuses(await actor.put(`/api/keys/${actor.keyId}/budget`, MONTH), 403, "SESSION_REQUIRED", { required: "budgets:write" });
    refuses(await actor.get("/api/budgets"), 403, "SESSION_REQUIRED", { required: "usage:read" });
    refuses(await actor.get("/api/secrets"), 403, "SESSION_REQUIRED", { required: "secrets:write" });
    refuses(await actor.get(`/api/organizations/${actor.userId}/members`), 403, "SESSION_REQUIRED", { required: "members:read" });
    refuses(await actor.get("/api/me"), 403, "SESSION_REQUIRED", { required: undefined });
  }),
  automation("a key with a capability by name sets budgets, secrets and schedules, and reads members and usage", async (ctx) => {
    const actor = await owner(ctx);
    const slug = await save(actor, greeting());
    const key = await actor.withKey([...BY_NAME, `workflow:${slug}:run`]);
    answers(await key.put(`/api/workflows/${slug}/budget`, MONTH), 200, { scope: "workflow", credits: 5 });
    answers(await key.get("/api/budgets"), 200);
    answers(await key.get("/api/usage/summary"), 200);
    answers(await key.delete(`/api/workflows/${slug}/budget`), 204);
    answers(await key.put("/api/secrets/BY_KEY", { value: "a value of some length", hosts: ["api.example.com"] }), 200, { name: "BY_KEY" });
    answers(await key.delete("/api/secrets/BY_KEY"), 204);
    const members = answers(await key.get(`/api/organizations/${actor.userId}/members`), 200);
    assert.deepEqual(
      (members.body as unknown as { userId: string }[]).map(({ userId }) => userId),
      [actor.userId],
    );
    const created = answers(await key.post(`/api/workflows/${slug}/schedules`, { cron: "0 0 1 1 *", paused: true }), 201, { id: is.text });
    answers(await key.delete(`/api/workflows/${slug}/schedules/${String(created.body.id)}`), 204);
    refuses(await key.delete(`/api/workflows/${slug}`), 403, "CAPABILITY_DENIED", { required: "workflow:write" });
  }),
  automation("capabilities by name need the Business tier", async (ctx) => {
    const { session } = await ctx.shared("pro", "automation");
    for (const capability of BY_NAME) {
      refuses(await session.post("/api/keys", { name: "x", capabilities: [capability] }), 403, "CAPABILITY_ABOVE_CEILING");
    }
  }),
  automation("a service account signs in with its key, and ends only when it is deleted", async (ctx) => {
    const actor = await ctx.actor({ tier: "business" });
    const { id, key } = await serviceOf(actor, ["workflow:read", "workflow:write"]);
    const user = { id, email: `${id}@service.invalid`, role: "user", tier: "business", approved: true };
    answers(await key.get("/api/whoami"), 200, { user });
    const slug = await save(key, greeting());
    answers(await actor.session.get(`/api/workflows/${slug}`), 200);
    refuses(await key.get("/api/me"), 403, "SESSION_REQUIRED");
    refuses(await key.get(of(actor.userId)), 403, "SESSION_REQUIRED");
    answers(await actor.session.patch(`${of(actor.userId)}/${id}`, { capabilities: ["workflow:read"] }), 200);
    await eventually(
      () => key.delete(`/api/workflows/${slug}`),
      ({ body }) => body.code === "CAPABILITY_DENIED",
    );
    answers(await actor.session.delete(`${of(actor.userId)}/${id}`), 204);
    await eventually(
      () => key.get("/api/whoami"),
      ({ status }) => status === 401,
    );
    const { rows } = answers(await actor.session.get(`/api/organizations/${actor.userId}/audit`), 200).body as { rows: AuditRow[] };
    const actions = rows.map(({ action }) => action);
    for (const action of ["create", "update", "delete"]) assert.ok(actions.includes(`service-account.${action}`), action);
  }),
  automation("a key of a service account manages only keys of its account, and never grants more than it has", async (ctx) => {
    const actor = await ctx.actor({ tier: "business" });
    const { id, key } = await serviceOf(actor, ["keys:write", "workflow:read", "workflow:run"], ["keys:write", "workflow:read"]);
    const created = answers(await key.post("/api/keys", { name: "Mine", capabilities: ["workflow:read"] }), 201, { createdBy: id });
    const keyId = pick<string>(created, "id");
    answers(await key.post(`/api/keys/${keyId}/rotate`, { graceSeconds: 0 }), 200, { key: is.text });
    refuses(await key.post("/api/keys", { name: "More", capabilities: ["workflow:run"] }), 403, "CAPABILITY_DENIED");
    refuses(await key.post("/api/keys", { name: "More", preset: "full-deploy" }), 403, "CAPABILITY_DENIED");
    refuses(await key.patch(`/api/keys/${keyId}`, { capabilities: ["workflow:run"] }), 403, "CAPABILITY_DENIED");
    const stronger = await actor.withKey(["workflow:run"], { serviceAccountId: id });
    refuses(await key.post(`/api/keys/${stronger.keyId}/rotate`, { graceSeconds: 0 }), 403, "CAPABILITY_DENIED");
    refuses(await key.delete(`/api/keys/${actor.keyId}`), 404, "NOT_FOUND");
    refuses(await key.post(`/api/keys/${actor.keyId}/rotate`, { graceSeconds: 0 }), 404, "NOT_FOUND");
    const listed = answers(await key.get("/api/keys"), 200).body as unknown as { id: string }[];
    assert.deepEqual(new Set(listed.map((one) => one.id)), new Set([key.keyId, keyId, stronger.keyId]));
    answers(await key.delete(`/api/keys/${keyId}`), 204);
    const { rows } = answers(await actor.session.get(`/api/organizations/${actor.userId}/audit`), 200).body as { rows: AuditRow[] };
    assert.ok(rows.some((row) => row.action === "key.create" && row.actor === id));
  }),
  automation(
    "keys:write is only for service accounts, and a service account never has more than its tier or its own grants",
    async (ctx) => {
      const actor = await owner(ctx);
      refuses(await actor.session.post("/api/keys", { name: "x", capabilities: ["keys:write"] }), 400, "INVALID_REQUEST");
      refuses(await actor.session.post(of(actor.userId), { name: "x", capabilities: ["*"] }), 403, "CAPABILITY_ABOVE_CEILING");
      const { id } = await serviceOf(actor, ["workflow:read"]);
      const beyond = { name: "x", capabilities: ["workflow:write"], serviceAccountId: id };
      refuses(await actor.session.post("/api/keys", beyond), 403, "CAPABILITY_DENIED", { required: "workflow:write" });
      const other = await ctx.shared("pro", "automation");
      const foreign = { name: "x", capabilities: ["workflow:read"] };
      for (const serviceAccountId of [id, actor.userId]) {
        refuses(await other.session.post("/api/keys", { ...foreign, serviceAccountId }), 404, "NOT_FOUND");
      }
      refuses(await other.session.get(of(actor.userId)), 404, "NOT_FOUND");
      refuses(await other.session.delete(`${of(actor.userId)}/${id}`), 404, "NOT_FOUND");
      answers(await actor.session.delete(`${of(actor.userId)}/${id}`), 204);
    },
  ),
  automation("an account can have ten service accounts, or none on the free tier", async (ctx) => {
    const actor = await ctx.actor({ tier: "pro" });
    const account = { name: "x", capabilities: ["workflow:read"] };
    const replies = await Promise.all(Array.from({ length: 10 }, () => actor.session.post(of(actor.userId), account)));
    for (const answer of replies) answers(answer, 201);
    refuses(await actor.session.post(of(actor.userId), account), 412, "PRECONDITION_FAILED", { limit: 10 });
    const free = await ctx.actor({ tier: "free" });
    refuses(await free.session.post(of(free.userId), account), 403, "API_KEY_ACCESS_DENIED");
  }),
  automation("a service account of an organization can read only the organization's members", async (ctx) => {
    const actor = await ctx.actor({ tier: "business" });
    const id = pick<string>(answers(await actor.session.post("/api/organizations", { name: "Loom Works" }), 201), "id");
    const created = answers(await actor.session.post(of(id), { name: "Deploys", capabilities: ["members:read"] }), 201);
    const grants = { name: "x", capabilities: ["members:read"], serviceAccountId: created.body.id };
    const issued = await actor.session.call("POST", "/api/keys", { body: grants, headers: { "x-organization": id } });
    const key = pick<string>(answers(issued, 201), "key");
    const ask = (path: string) => ctx.anonymous.call("GET", path, { key });
    const members = answers(await ask(`/api/organizations/${id}/members`), 200).body as unknown as { userId: string }[];
    assert.deepEqual(
      members.map(({ userId }) => userId),
      [actor.userId],
    );
    refuses(await ask(`/api/organizations/${actor.userId}/members`), 404, "NOT_FOUND");
  }),
];
