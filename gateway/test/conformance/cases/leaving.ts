import assert from "node:assert/strict";
import { strFromU8, unzipSync } from "fflate";
import { inSection, type Case } from "../case";
import { answers, fits, is, refuses } from "../check";
import { eventually, type Actor } from "../context";
import { greeting, save } from "../graphs";
import type { Answer } from "../../../../test-support/client";

const leaving = inSection("D24");
const RUN = { inputs: { prompt: "Ada" } };
const LOCAL_HEADER = 0x04034b50;

const leave = ({ session, password }: Actor, confirmation: object = { password }): Promise<Answer> =>
  session.call("DELETE", "/api/me", { body: confirmation });

export const leavingCases: Case[] = [
  leaving("an account scheduled for deletion can read but not run, and can cancel the deletion", async (ctx) => {
    const user = await ctx.actor({ tier: "business" });
    const slug = await save(user, greeting());
    refuses(await leave(user, {}), 400, "INVALID_REQUEST", { issues: [{ path: "password", message: is.text }] });
    refuses(await leave(user, { password: "not the password" }), 401, "UNAUTHENTICATED");
    const { body } = answers(await leave(user), 202, { erasesAt: is.time });
    assert.ok(Date.parse(String(body.erasesAt)) > Date.now());
    answers(await leave(user), 202, { erasesAt: body.erasesAt });
    for (const path of [`/api/workflows/${slug}/run`, `/api/workflows/${slug}/quote`]) {
      refuses(await user.post(path, RUN), 403, "ACCOUNT_LEAVING");
      refuses(await user.session.post(path, RUN), 403, "ACCOUNT_LEAVING");
    }
    answers(await user.session.get("/api/me"), 200, { erasesAt: body.erasesAt });
    answers(await ctx.admin.get(`/api/admin/users/${user.userId}`), 200, { erasesAt: body.erasesAt });
    answers(await ctx.anonymous.post("/api/auth/login", { email: user.email, password: user.password }), 200);
    answers(await user.session.post("/api/me/restore"), 204);
    answers(await user.session.get("/api/me"), 200, { erasesAt: is.absent });
    answers(await user.post(`/api/workflows/${slug}/run`, RUN), 200);
  }),
  leaving("an archive of all data is created only for its owner", async (ctx) => {
    const user = await ctx.actor({ tier: "pro" });
    await save(user, greeting());
    const log = `/api/keys/${user.keyId}/requests`;
    await eventually(
      () => user.session.get(log),
      ({ body }) => (body.rows as unknown[]).length > 0,
    );
    answers(await user.session.delete(`/api/keys/${user.keyId}`), 204);
    const ask = (): Promise<Answer> => user.session.get("/api/me/export");
    const { body } = answers(await eventually(ask, ({ status }) => status === 200), 200, {
      status: "ready",
      url: is.url(ctx.baseUrl),
      expiresAt: is.time,
    });
    const fetched = await fetch(String(body.url), { headers: { cookie: user.cookie } });
    const bytes = Buffer.from(await fetched.arrayBuffer());
    assert.deepEqual([fetched.status, fetched.headers.get("content-type"), bytes.readUInt32LE(0)], [200, "application/zip", LOCAL_HEADER]);
    assert.equal(bytes.length, body.bytes);
    const files = unzipSync(new Uint8Array(bytes));
    const rowsOf = (name: string): Record<string, unknown>[] =>
      strFromU8(files[name]!)
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Record<string, unknown>);
    const { keys } = JSON.parse(strFromU8(files["account.json"]!)) as { keys: object[] };
    fits(keys, [{ id: user.keyId, name: "conformance", deletedAt: is.time }]);
    fits(rowsOf("key-requests.jsonl"), [{ keyId: user.keyId, method: "POST", route: "/api/workflows", status: 201, ip: is.text }]);
    assert.ok(rowsOf("audit.jsonl").some(({ action, keyId }) => action === "workflow.create" && keyId === user.keyId));
    refuses(await (await user.withKey({ preset: "read-only" })).get("/api/me/export/file"), 403, "SESSION_REQUIRED");
    const stranger = await ctx.actor({ tier: "pro" });
    refuses(await stranger.session.get("/api/me/export/file"), 404, "NOT_FOUND");
  }),
  leaving("administrators export, delete and restore accounts of others, but not their own", async (ctx) => {
    const user = await ctx.actor({ tier: "pro" });
    const own = `/api/admin/users/${user.userId}`;
    answers(await ctx.admin.delete(own), 202, { erasesAt: is.time });
    answers(await ctx.admin.post(`${own}/restore`), 204);
    assert.ok([200, 202].includes((await ctx.admin.post(`${own}/export`)).status));
    answers(await ctx.admin.delete(`${own}/oidc`), 204);
    const { id: adminId } = (await ctx.admin.get("/api/whoami")).body.user as { id: string };
    refuses(await ctx.admin.delete(`/api/admin/users/${adminId}`), 412, "PRECONDITION_FAILED");
    refuses(await user.session.call("DELETE", own), 403, "CAPABILITY_DENIED");
  }),
];
