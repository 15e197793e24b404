import assert from "node:assert/strict";
import { call } from "../../../../test-support/client";
import { codeOf, wrongCode } from "../../../../test-support/authenticator";
import { inSection, type Case } from "../case";
import { answers, fits, is, pick, refuses } from "../check";
import { eventually, type Actor, type Context } from "../context";
import { greeting, save } from "../graphs";

/** The audit log of an account. */

const log = inSection("D32");

interface Row {
  action: string;
  target: string;
  outcome: string;
  errorCode: string | null;
  keyId: string | null;
  ip: string | null;
}

const rowsOf = async (actor: Actor, query: string): Promise<Row[]> =>
  (answers(await actor.session.get(`/api/organizations/${actor.userId}/audit?${query}`), 200).body as unknown as { rows: Row[] }).rows;
/** Rows of the log, once it has a failed one. */
const withFailed = (actor: Actor, query: string): Promise<Row[]> =>
  eventually(
    () => rowsOf(actor, query),
    (rows) => rows.some(({ outcome }) => outcome === "failed"),
  );

const user = (ctx: Context): Promise<Actor> => ctx.actor({ tier: "pro" });

const FACTOR = "/api/auth/second-factor";
const NEW_PASSWORD = "a loom of many colours";

/** Changes of an account by its owner. Each ends the earlier sessions, so the owner signs in again. */
const accounts: Case[] = [
  log("the audit log shows changes of the password and of the second factor, and uses of recovery codes", async (ctx) => {
    const first = await ctx.actor({ tier: "pro", noKey: true });
    const { email, userId } = first;
    answers(await first.session.post("/api/auth/password", { current: first.password, new: NEW_PASSWORD }), 204);
    const credentials = { email, password: NEW_PASSWORD };
    const { session } = await ctx.signIn(credentials);
    const secret = pick<string>(answers(await session.post(FACTOR, { password: NEW_PASSWORD }), 201), "secret");
    const codes = pick<string[]>(answers(await session.post(`${FACTOR}/confirm`, { code: codeOf(secret) }), 200), "recoveryCodes");
    const pending = pick<string>(answers(await ctx.anonymous.post("/api/auth/login", credentials), 202), "pending");
    const second = (code: string) => ctx.anonymous.post("/api/auth/login/code", { pending, code });
    refuses(await second(wrongCode(secret)), 401, "UNAUTHENTICATED");
    const signed = answers(await second(codes[0]!), 200);
    const cookie = signed.headers.getSetCookie()[0]?.split(";")[0] ?? "";
    const ask = (method: string, path: string, body?: unknown) => call(ctx.baseUrl, method, path, { cookie, body });
    answers(await ask("POST", `${FACTOR}/disable`, { password: NEW_PASSWORD, code: codes[1]! }), 204);
    const own = { ...first, session: { ...first.session, get: (path: string) => ask("GET", path) } };
    const rows = await eventually(
      () => rowsOf(own, "limit=100"),
      (auditRows) =>
        auditRows.some(({ action }) => action === "recovery-code.use") && auditRows.some(({ outcome }) => outcome === "failed"),
    );
    const actions = rows.filter(({ outcome }) => outcome === "done").map(({ action }) => action);
    for (const action of ["account.create", "password.change", "second-factor.enable", "recovery-code.use", "second-factor.disable"])
      assert.ok(actions.includes(action), action);
    assert.ok(!JSON.stringify(rows).includes(NEW_PASSWORD) && codes.every((code) => !JSON.stringify(rows).includes(code)));
    fits(
      rows.find(({ outcome }) => outcome === "failed"),
      { action: "session.create", target: userId, errorCode: "UNAUTHENTICATED" },
    );
    answers(await ask("POST", "/api/auth/logout", {}), 204);
    const [last] = await rowsOf(await ctx.signIn(credentials), "action=session.delete");
    fits(last, { outcome: "done", target: userId });
  }),
];

/** Changes of what an account owns. */
const changes: Case[] = [
  log("the audit log shows schedules, hooks, apps, restored versions, public files and exports, without inputs", async (ctx) => {
    const actor = await user(ctx);
    const { body: saved } = answers(await actor.post("/api/workflows", greeting()), 201);
    const slug = String(saved.slug);
    const path = `/api/workflows/${slug}`;
    const schedule = { cron: "0 9 * * 1", paused: true, inputs: { prompt: "a private name" } };
    const scheduleId = pick<string>(answers(await actor.post(`${path}/schedules`, schedule), 201), "id");
    answers(await actor.patch(`${path}/schedules/${scheduleId}`, { cron: "0 8 * * 1" }), 200);
    answers(await actor.delete(`${path}/schedules/${scheduleId}`), 204);
    const hook = { expression: "", maxCredits: 5, hmac: { header: "X-Signature", secret: "a private secret" } };
    const hookId = pick<string>(answers(await actor.post(`${path}/hooks`, hook), 201), "id");
    answers(await actor.delete(`${path}/hooks/${hookId}`), 204);
    answers(await actor.post(`${path}/versions`, {}), 201);
    answers(await actor.post(`${path}/versions/1/restore`), 200);
    answers(await actor.session.put(path, { app: { published: true, dailyCredits: 5 } }), 200);
    answers(await actor.session.put(path, { app: { published: false, dailyCredits: 5 } }), 200);
    const bundle = await fetch(`${ctx.baseUrl}/api/bundles?slugs=${slug}`, { headers: { "x-api-key": actor.key } });
    assert.equal(bundle.status, 200);
    const headers = { "x-api-key": actor.key, "content-type": "image/png" };
    const bytes = new Uint8Array(Buffer.from("89504e470d0a1a0a0000000d4948445200000001", "hex"));
    const upload = await fetch(`${ctx.baseUrl}/api/media`, { method: "POST", headers, body: bytes });
    const { id: fileId } = (await upload.json()) as { id: string };
    answers(await actor.patch(`/api/media/${fileId}`, { public: true }), 200);
    answers(await actor.delete(`/api/media/${fileId}`), 204);
    assert.ok([200, 202].includes((await actor.session.get("/api/me/export")).status));
    const rows = await rowsOf(actor, "limit=100");
    const actions = rows.map(({ action }) => action);
    const expected = [
      ...["schedule.create", "schedule.update", "schedule.delete", "hook.create", "hook.delete", "workflow.restore"],
      ...["workflow.app-publish", "workflow.app-unpublish", "bundle.export", "media.publish", "media.delete", "account.export"],
    ];
    assert.deepEqual(
      expected.filter((action) => !actions.includes(action)),
      [],
    );
    assert.ok(rows.every(({ outcome }) => outcome === "done"));
    assert.ok(!JSON.stringify(rows).includes("a private"), "values of inputs and secrets aren't in the log");
  }),
];

export const auditCases: Case[] = [
  ...accounts,
  ...changes,
  log("the audit log shows sign-ins, also those with a wrong password, with the address of the caller", async (ctx) => {
    const actor = await user(ctx);
    const signIn = (password: string) => call(ctx.baseUrl, "POST", "/api/auth/login", { body: { email: actor.email, password } });
    refuses(await signIn("a wrong password"), 401, "UNAUTHENTICATED");
    answers(await signIn(actor.password), 200);
    const rows = await withFailed(actor, "action=session.create");
    assert.ok(rows.filter(({ outcome }) => outcome === "done").length >= 2);
    const failed = rows.find(({ outcome }) => outcome === "failed");
    fits(failed, { target: actor.userId, errorCode: "UNAUTHENTICATED", ip: is.text, keyId: null });
  }),
  log("the audit log shows refused attempts, one a minute for each caller and route", async (ctx) => {
    const actor = await user(ctx);
    const key = await actor.withKey(["workflow:read"]);
    for (let round = 0; round < 3; round += 1) refuses(await key.post("/api/workflows", { name: "Mine" }), 403, "CAPABILITY_DENIED");
    const rows = await withFailed(actor, "action=request.refused");
    assert.ok(rows.length <= 2, `${rows.length} rows for attempts within a minute`);
    const failedRow = rows.find(({ outcome }) => outcome === "failed");
    fits(failedRow, { target: "POST /api/workflows", errorCode: "CAPABILITY_DENIED", keyId: key.keyId });
  }),
  log("changes of workflows are in the audit log, which is filtered, and downloaded as CSV by owners alone", async (ctx) => {
    const actor = await user(ctx);
    const slug = await save(actor, { name: "=Audited", nodes: [], edges: [] });
    for (const description of ["a", "b"]) answers(await actor.put(`/api/workflows/${slug}`, { description }), 200);
    answers(await actor.delete(`/api/workflows/${slug}`), 204);
    const actions = async (query: string) => (await rowsOf(actor, query)).map(({ action }) => action);
    const all = await actions("action=workflow.");
    assert.deepEqual([all[0], all.at(-1)], ["workflow.delete", "workflow.create"]);
    assert.ok(all.length <= 4, "saves within ten minutes share a row");
    assert.deepEqual(await actions(`target=${slug}&action=workflow.delete`), ["workflow.delete"]);
    assert.deepEqual(await actions("action=workflow.&to=2020-01-01T00:00:00Z"), []);
    assert.deepEqual(await actions("q=%3Daudited"), ["workflow.create"]);
    assert.deepEqual(await actions(`key=${actor.keyId}&action=workflow.create`), ["workflow.create"]);

    const path = `/api/organizations/${actor.userId}/audit/export?action=workflow.`;
    const file = await fetch(ctx.baseUrl + path, { headers: { cookie: actor.cookie } });
    assert.equal(file.headers.get("content-type"), "text/csv; charset=utf-8");
    const lines = (await file.text()).trimEnd().split("\n");
    assert.equal(lines[0], "at,actor,keyId,ip,action,target,outcome,errorCode,requestId,change,before,after,keyName");
    assert.equal(lines.length, all.length + 1);
    assert.ok(lines.at(-1)!.includes("'=Audited"), "a cell that begins with = isn't a formula");
    assert.deepEqual(await actions("action=audit.export"), ["audit.export"]);
    refuses(await (await user(ctx)).session.get(path), 404, "NOT_FOUND");
    // A deleted key keeps its name.
    answers(await actor.session.delete(`/api/keys/${actor.keyId}`), 204);
    const [byKey] = await rowsOf(actor, `key=${actor.keyId}&action=workflow.create`);
    fits(byKey, { keyId: actor.keyId, keyName: "conformance" });
    const ofKey = `?owner=${actor.userId}&key=${actor.keyId}&action=workflow.create`;
    answers(await ctx.admin.call("GET", `/api/admin/audit${ofKey}`), 200, { rows: [{ keyName: "conformance" }] });
    const ofAdmins = await ctx.admin.call("GET", `/api/admin/audit/export?owner=${actor.userId}&action=workflow.create`);
    assert.equal(ofAdmins.headers.get("content-type"), "text/csv; charset=utf-8");
    const [, row, ...more] = ofAdmins.text.trimEnd().split("\n");
    assert.ok(row!.endsWith(",conformance") && more.length === 0);
    refuses(await actor.session.get("/api/admin/audit/export"), 403, "CAPABILITY_DENIED");
  }),
];
