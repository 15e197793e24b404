import assert from "node:assert/strict";
import { call } from "../../e2e/support/client";
import { inSection, type Case } from "../case";
import { answers, fits, is, refuses } from "../check";
import { eventually, type Actor, type Context } from "../context";
import { save } from "../graphs";

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

export const auditCases: Case[] = [
  log("the audit log shows sign-ins, also those with a wrong password, with the address of the caller", async (ctx) => {
    const actor = await user(ctx);
    const sent = (password: string) => call(ctx.baseUrl, "POST", "/api/auth/login", { body: { email: actor.email, password } });
    refuses(await sent("a wrong password"), 401, "UNAUTHENTICATED");
    answers(await sent(actor.password), 200);
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
    const refused = rows.find(({ outcome }) => outcome === "failed");
    fits(refused, { target: "POST /api/workflows", errorCode: "CAPABILITY_DENIED", keyId: key.keyId });
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
    assert.equal(lines[0], "at,actor,keyId,ip,action,target,outcome,errorCode,requestId,change,before,after");
    assert.equal(lines.length, all.length + 1);
    assert.ok(lines.at(-1)!.includes("'=Audited"), "a cell that begins with = is no formula");
    assert.deepEqual(await actions("action=audit.export"), ["audit.export"]);
    refuses(await (await user(ctx)).session.get(path), 404, "NOT_FOUND");
  }),
];
