import assert from "node:assert/strict";
import { inSection, type Case } from "../case";
import { answers, is, refuses } from "../check";
import type { Actor, Context } from "../context";
import { greeting, save } from "../graphs";

/** Capabilities that are granted by name, and the keys that have them. */

const automation = inSection("D30");
const BY_NAME = ["budgets:write", "secrets:write", "members:read", "usage:read", "webhooks:write", "schedules:write"];
const owner = (ctx: Context): Promise<Actor> => ctx.shared("business", "automation");
const MONTH = { credits: 5, window: "month" };

export const serviceAccountCases: Case[] = [
  automation("a key without a capability by name is refused as ever, and told which one admits keys", async (ctx) => {
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
    const made = answers(await key.post(`/api/workflows/${slug}/schedules`, { cron: "0 0 1 1 *", paused: true }), 201, { id: is.text });
    answers(await key.delete(`/api/workflows/${slug}/schedules/${String(made.body.id)}`), 204);
    refuses(await key.delete(`/api/workflows/${slug}`), 403, "CAPABILITY_DENIED", { required: "workflow:write" });
  }),
  automation("capabilities by name need the tier business", async (ctx) => {
    const { session } = await ctx.shared("pro", "automation");
    for (const capability of BY_NAME) {
      refuses(await session.post("/api/keys", { name: "x", capabilities: [capability] }), 403, "CAPABILITY_ABOVE_CEILING");
    }
  }),
];
