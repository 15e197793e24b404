import assert from "node:assert/strict";
import { inSection, type Case } from "../case";
import { answers, exactly, fits, is, noWorkflow, pick, refuses, rowsOf } from "../check";
import { eventually, finished, type Actor, type Caller, type Context } from "../context";
import { edge, node, request, save } from "../graphs";

/** Aliases: staging and production. */

const control = inSection("D31");
const user = (ctx: Context): Promise<Actor> => ctx.shared("enterprise", "environments");

/** Returns a text. Its input has the text as its name, so that schemas differ. */
const says = (text: string) => ({
  name: "Environments",
  nodes: [
    node("in", "request-input", { fields: [{ name: text, type: "text", label: text, default: "" }] }),
    node("t", "text-box", { text }),
    node("out", "response-output"),
  ],
  edges: [edge("t.text", "out.text")],
});

interface AuditRow {
  action: string;
  target: string;
}

/** A workflow whose versions return these texts, and whose draft returns `draft`. */
const published = async (actor: Caller, texts: readonly string[] = ["one", "two"], more: object = {}): Promise<string> => {
  const slug = await save(actor, { ...says(texts[0]!), ...more });
  for (const text of texts) {
    answers(await actor.put(`/api/workflows/${slug}`, says(text)), 200);
    answers(await actor.post(`/api/workflows/${slug}/versions`), 201);
  }
  answers(await actor.put(`/api/workflows/${slug}`, says("draft")), 200);
  return slug;
};
const point = (actor: Caller, slug: string, name: string, body: object) => actor.put(`/api/workflows/${slug}/aliases/${name}`, body);
const start = (actor: Caller, slug: string, query = "") => actor.post(`/api/workflows/${slug}/run${query}`, { inputs: {} });
const run = async (actor: Caller, slug: string, query = ""): Promise<string> =>
  pick(answers(await start(actor, slug, query), 200), "result.text");
const over = (actor: Caller, id: string) =>
  eventually(
    () => actor.get(`/api/batches/${id}`),
    ({ body }) => !["running", "cancel_requested"].includes((body as { status: string }).status),
  );

const aliasCases: Case[] = [
  control("a version is promoted and rolled back by one call, and runs follow at once", async (ctx) => {
    const actor = await user(ctx);
    const slug = await published(actor);
    const byDefault = { name: "production", version: 2, isDefault: true, updatedAt: null, updatedBy: null };
    answers(await actor.get(`/api/workflows/${slug}/aliases`), 200, [exactly(byDefault)]);
    const set = { name: "production", version: 1, isDefault: false, updatedAt: is.time, updatedBy: actor.userId };
    answers(await point(actor, slug, "production", { version: 1 }), 200, exactly(set));
    assert.equal(await run(actor, slug), "one");
    answers(await point(actor, slug, "production", { version: 2, if: { version: 1 } }), 200, { version: 2 });
    assert.equal(await run(actor, slug), "two");
    answers(await point(actor, slug, "staging", { version: 1, if: { version: null } }), 200, { name: "staging", version: 1 });
    assert.deepEqual([await run(actor, slug, "?alias=staging"), await run(actor, slug, "?alias=production")], ["one", "two"]);
    answers(await actor.get(`/api/workflows/${slug}/aliases/staging`), 200, { version: 1 });
    answers(await actor.delete(`/api/workflows/${slug}/aliases/staging`), 204);
    refuses(await start(actor, slug, "?alias=staging"), 404, "ALIAS_NOT_FOUND");
    refuses(await actor.get(`/api/workflows/${slug}/aliases/staging`), 404, "ALIAS_NOT_FOUND");
  }),
  control("publishing doesn't move an alias that was set; after the alias is removed, runs use the newest version again", async (ctx) => {
    const actor = await user(ctx);
    const slug = await published(actor, ["one"]);
    answers(await point(actor, slug, "production", { version: 1 }), 200);
    answers(await actor.post(`/api/workflows/${slug}/versions`), 201, { version: 2 });
    assert.equal(await run(actor, slug), "one");
    answers(await actor.delete(`/api/workflows/${slug}/aliases/production`), 204);
    assert.equal(await run(actor, slug), "draft");
    refuses(await actor.delete(`/api/workflows/${slug}/aliases/production`), 404, "ALIAS_NOT_FOUND");
  }),
  control("an alias moves only from the version that `if` names", async (ctx) => {
    const actor = await user(ctx);
    const slug = await published(actor);
    refuses(await point(actor, slug, "production", { version: 1, if: { version: 1 } }), 412, "PRECONDITION_FAILED");
    refuses(await point(actor, slug, "staging", { version: 1, if: { version: 1 } }), 412, "PRECONDITION_FAILED");
    refuses(await point(actor, slug, "production", { version: 1, if: { version: null } }), 412, "PRECONDITION_FAILED");
    assert.equal(await run(actor, slug), "two");
  }),
  control("invalid names and unknown versions are rejected", async (ctx) => {
    const actor = await user(ctx);
    const slug = await published(actor, ["one"]);
    for (const name of ["Staging", "1st", "a".repeat(33), "a.b"])
      refuses(await point(actor, slug, name, { version: 1 }), 400, "INVALID_REQUEST", { issues: [{ path: "name", message: is.text }] });
    refuses(await point(actor, slug, "staging", { version: 2 }), 404, "VERSION_NOT_FOUND");
    for (const version of [0, "1", null]) refuses(await point(actor, slug, "staging", { version }), 400, "INVALID_REQUEST");
    refuses(await start(actor, slug, "?alias=No"), 400, "INVALID_REQUEST");
    const both = refuses(await start(actor, slug, "?alias=production&version=1"), 400, "INVALID_REQUEST");
    fits(both.body, { issues: [{ path: "alias" }] });
  }),
  control("moving an alias needs workflow:write and the run capability, and creates an audit row", async (ctx) => {
    const actor = await user(ctx);
    const slug = await published(actor);
    const cases = [
      [["workflow:write"], `workflow:${slug}:run`],
      [["workflow:run"], "workflow:write"],
    ] as const;
    for (const [grants, required] of cases) {
      const key = await actor.withKey([...grants]);
      refuses(await point(key, slug, "production", { version: 1 }), 403, "CAPABILITY_DENIED", { required });
      refuses(await key.delete(`/api/workflows/${slug}/aliases/production`), 403, "CAPABILITY_DENIED", { required });
    }
    const key = await actor.withKey(["workflow:write", `workflow:${slug}:run`]);
    answers(await point(key, slug, "production", { version: 1 }), 200);
    const { rows } = answers(await actor.session.get(`/api/organizations/${actor.userId}/audit`), 200).body as { rows: AuditRow[] };
    const row = rows.find(({ action, target }) => action === "workflow.alias" && target === slug);
    assert.ok(row, "the move is not in the audit");
    fits(row, { change: { name: "production", version: 1 }, before: { version: 2 }, after: { version: 1 }, outcome: "done" });
  }),
  control("quotes and schemas accept an alias, and an execution records the alias that selected its version", async (ctx) => {
    const actor = await user(ctx);
    const slug = await published(actor);
    answers(await point(actor, slug, "staging", { version: 1 }), 200);
    const cases = [
      ["", "two", { version: 2, alias: "production" }],
      ["?alias=staging", "one", { version: 1, alias: "staging" }],
      ["?version=1", "one", { version: 1, alias: null }],
      ["?version=draft", "draft", { version: null, alias: null }],
    ] as const;
    for (const [query, field, recorded] of cases) {
      answers(await actor.get(`/api/workflows/${slug}/schema${query}`), 200, { fields: [{ name: field }] });
      answers(await actor.post(`/api/workflows/${slug}/quote${query}`, { inputs: { [field]: "x" } }), 200);
      const endedRun = answers(await start(actor, slug, query), 200, { result: { text: field } });
      answers(await actor.get(`/api/executions/${endedRun.headers.get("x-execution-id") ?? ""}`), 200, recorded);
    }
    for (const path of ["run", "quote"])
      refuses(await actor.post(`/api/workflows/${slug}/${path}?alias=none`, { inputs: {} }), 404, "ALIAS_NOT_FOUND");
    refuses(await actor.get(`/api/workflows/${slug}/schema?alias=none`), 404, "ALIAS_NOT_FOUND");
  }),
  control("other users run production of a template, and can't use another alias", async (ctx) => {
    const [owner, reader] = [await user(ctx), await ctx.shared("pro", "readers")];
    const slug = await published(owner, ["one", "two"], { isTemplate: true });
    answers(await point(owner, slug, "production", { version: 1 }), 200);
    answers(await point(owner, slug, "staging", { version: 2 }), 200);
    assert.deepEqual([await run(reader, slug), await run(reader, slug, "?alias=production")], ["one", "one"]);
    refuses(await start(reader, slug, "?alias=staging"), 404, "ALIAS_NOT_FOUND");
    assert.match(answers(await reader.get(`/api/workflows/${slug}`), 200).text, /"text":"one"/);
    noWorkflow(await reader.get(`/api/workflows/${slug}/aliases`));
    noWorkflow(await point(reader, slug, "production", { version: 2 }));
  }),
];

const withInner = (inner: string) => ({
  name: "Outer",
  nodes: [node("inner", "workflow", { slug: inner }), node("out", "response-output")],
  edges: [edge("inner.text", "out.text")],
});

const usingCases: Case[] = [
  control("an inner workflow uses the same alias, or else production, and the execution records its version", async (ctx) => {
    const actor = await user(ctx);
    const inner = await published(actor);
    const outer = await save(actor, withInner(inner));
    answers(await actor.post(`/api/workflows/${outer}/versions`), 201);
    answers(await point(actor, outer, "staging", { version: 1 }), 200);
    answers(await point(actor, inner, "production", { version: 1 }), 200);
    // The inner workflow has no `staging` yet.
    assert.deepEqual([await run(actor, outer), await run(actor, outer, "?alias=staging")], ["one", "one"]);
    answers(await point(actor, inner, "staging", { version: 2 }), 200);
    const endedRun = answers(await start(actor, outer, "?alias=staging"), 200, { result: { text: "two" } });
    const polled = await actor.get(`/api/executions/${endedRun.headers.get("x-execution-id") ?? ""}`);
    answers(polled, 200, { alias: "staging", inlined: [{ slug: inner, version: 2 }] });
    assert.equal(await run(actor, outer), "one");
  }),
  control("a batch runs the version that its alias had when it was created", async (ctx) => {
    const actor = await user(ctx);
    const slug = await published(actor);
    answers(await point(actor, slug, "staging", { version: 1 }), 200);
    const path = `/api/workflows/${slug}/batches`;
    const body = { inputs: [{}, {}] };
    const id = pick(answers(await actor.post(`${path}?alias=staging`, body), 202), "batchId");
    answers(await point(actor, slug, "staging", { version: 2 }), 200);
    const batch = answers(await over(actor, id), 200, { status: "completed", version: 1, alias: "staging" });
    for (const row of rowsOf<{ executionId: string }>(batch))
      answers(await actor.get(`/api/executions/${row.executionId}`), 200, { version: 1, alias: "staging", result: { text: "one" } });
    answers(await actor.post(`${path}/quote?alias=staging`, body), 200);
    refuses(await actor.post(`${path}?alias=none`, body), 404, "ALIAS_NOT_FOUND");
  }),
  control("a rerun uses the alias of the earlier run, or the requested one", async (ctx) => {
    const actor = await user(ctx);
    const slug = await published(actor);
    answers(await point(actor, slug, "staging", { version: 1 }), 200);
    const first = answers(await start(actor, slug, "?alias=staging"), 200).headers.get("x-execution-id") ?? "";
    const again = answers(await actor.post(`/api/executions/${first}/rerun`, {}), 200, { result: { text: "one" } });
    answers(await actor.get(`/api/executions/${again.headers.get("x-execution-id") ?? ""}`), 200, { version: 1, alias: "staging" });
    answers(await actor.post(`/api/executions/${first}/rerun`, { alias: "production" }), 200, { result: { text: "two" } });
    refuses(await actor.post(`/api/executions/${first}/rerun`, { alias: "production", version: 1 }), 400, "INVALID_REQUEST");
  }),
  control("schedules and hooks keep an alias, and follow its moves", async (ctx) => {
    const actor = await user(ctx);
    const slug = await published(actor);
    answers(await point(actor, slug, "staging", { version: 1 }), 200);
    const rarely = { cron: "0 0 29 2 *", inputs: {} };
    const path = `/api/workflows/${slug}/schedules`;
    const created = answers(await actor.post(path, { ...rarely, alias: "staging" }), 201, { alias: "staging" });
    answers(await actor.patch(`${path}/${pick(created, "id")}`, { alias: null }), 200, { alias: null });
    refuses(await actor.post(path, { ...rarely, alias: "none" }), 404, "ALIAS_NOT_FOUND");
    answers(await actor.delete(`${path}/${pick(created, "id")}`), 204);
    const hook = answers(await actor.post(`/api/workflows/${slug}/hooks`, { expression: "", maxCredits: 5, alias: "staging" }), 201, {
      alias: "staging",
    });
    const deliver = async (): Promise<string> => {
      const reply = await ctx.anonymous.call("POST", new URL(pick(hook, "url")).pathname, { raw: "{}" });
      return pick(answers(await finished(actor, pick(answers(reply, 202), "executionId")), 200, { alias: "staging" }), "result.text");
    };
    assert.equal(await deliver(), "one");
    answers(await point(actor, slug, "staging", { version: 2 }), 200);
    assert.equal(await deliver(), "two");
  }),
  control("a key with an alias runs only that alias", async (ctx) => {
    const actor = await user(ctx);
    const slug = await published(actor);
    answers(await point(actor, slug, "staging", { version: 1 }), 200);
    const key = await actor.withKey(["workflow:run", "workflow:read", "execution:read"], { alias: "staging" });
    const keys = answers(await actor.session.get("/api/keys"), 200).body as unknown as { id: string; alias?: string }[];
    assert.equal(keys.find(({ id }) => id === key.keyId)?.alias, "staging");
    assert.deepEqual([await run(key, slug), await run(key, slug, "?alias=staging")], ["one", "one"]);
    answers(await key.get(`/api/workflows/${slug}/schema`), 200, { fields: [{ name: "one" }] });
    for (const query of ["?alias=production", "?version=1", "?version=draft"])
      refuses(await start(key, slug, query), 400, "INVALID_REQUEST", { issues: [{ path: "alias", message: is.text }] });
    const other = answers(await start(actor, slug), 200).headers.get("x-execution-id") ?? "";
    refuses(await key.post(`/api/executions/${other}/rerun`, {}), 400, "INVALID_REQUEST");
    refuses(await start(key, await published(actor, ["one"])), 404, "ALIAS_NOT_FOUND");
    answers(await actor.session.patch(`/api/keys/${key.keyId}`, { alias: null }), 200, { alias: is.absent });
    await eventually(
      () => start(key, slug),
      ({ body }) => (body as { result?: { text?: string } }).result?.text === "two",
    );
  }),
  control("OpenAI's routes accept `workflow/<slug>@<alias>`", async (ctx) => {
    const actor = await user(ctx);
    const slug = await published(actor);
    answers(await point(actor, slug, "staging", { version: 1 }), 200);
    const chat = (model: string) => actor.post("/v1/chat/completions", { model, messages: [{ role: "user", content: "x" }] });
    for (const [model, content] of [
      [`workflow/${slug}`, "two"],
      [`workflow/${slug}@staging`, "one"],
    ] as const)
      answers(await chat(model), 200, { choices: [{ message: { content } }] });
    assert.equal((await chat(`workflow/${slug}@none`)).status, 404);
    answers(await actor.get(`/v1/models/workflow/${slug}@staging`), 200, { id: `workflow/${slug}@staging` });
  }),
];

const secretCases: Case[] = [
  control(
    "a run by an alias sends the secret's value for this alias",
    async (ctx) => {
      const actor = await user(ctx);
      const inbox = ctx.receiver!.inbox();
      const hosts = [new URL(inbox.url).host];
      const put = (alias: string) => actor.session.put("/api/secrets/SENT_BY_ALIAS", { value: `a value for ${alias}`, hosts, alias });
      for (const alias of ["staging", "production"]) answers(await put(alias), 200);
      const graph = request({ url: inbox.url, headers: { "x-key": "{{secrets.SENT_BY_ALIAS}}" } });
      const slug = await save(actor, graph);
      answers(await actor.post(`/api/workflows/${slug}/versions`), 201);
      answers(await point(actor, slug, "staging", { version: 1 }), 200);
      answers(await start(actor, slug, "?alias=staging"), 200);
      answers(await start(actor, slug), 200);
      const batch = answers(await actor.post(`/api/workflows/${slug}/batches`, { inputs: [{}, {}] }), 202);
      answers(await over(actor, pick(batch, "batchId")), 200, { counts: { completed: 2 } });
      const values = inbox.deliveries.map(({ headers }) => headers["x-key"]);
      assert.deepEqual(values, ["a value for staging", ...Array<string>(3).fill("a value for production")]);
    },
    { needs: ["receiver"] },
  ),
  control("a secret with values for aliases is sent only by runs of these aliases", async (ctx) => {
    const actor = await user(ctx);
    const name = "BY_ALIAS";
    const put = (value: string, more: object = {}) =>
      actor.session.put(`/api/secrets/${name}`, { value, hosts: ["nodeloom.invalid"], ...more });
    answers(await put("a value for all"), 200, { name, alias: is.absent });
    const url = "https://nodeloom.invalid/";
    const slug = await save(actor, request({ url, headers: { Authorization: `{{secrets.${name}}}` } }));
    const quote = (query = "") => actor.post(`/api/workflows/${slug}/quote${query}`, { inputs: {} });
    answers(await quote(), 200);
    answers(await put("a value for staging", { alias: "staging" }), 200, { name, alias: "staging" });
    answers(await actor.post(`/api/workflows/${slug}/versions`), 201);
    answers(await point(actor, slug, "staging", { version: 1 }), 200);
    answers(await quote("?alias=staging"), 200);
    for (const query of ["", "?version=1", "?version=draft"]) {
      const refusal = refuses(await quote(query), 422, "WORKFLOW_INVALID");
      fits(refusal.body, { issues: [{ nodeId: "get", message: is.text }] });
    }
    answers(await put("a value for production", { alias: "production" }), 200);
    answers(await quote(), 200);
    answers(await actor.session.delete(`/api/secrets/${name}?alias=staging`), 204);
    refuses(await quote("?alias=staging"), 422, "WORKFLOW_INVALID");
    refuses(await actor.session.delete(`/api/secrets/${name}?alias=staging`), 404, "NOT_FOUND");
    refuses(await put("a value for none", { alias: "Not A Name" }), 400, "INVALID_REQUEST");
    answers(await actor.session.delete(`/api/secrets/${name}?alias=production`), 204);
    answers(await quote("?version=draft"), 200);
  }),
];

export const environmentCases: Case[] = [...aliasCases, ...usingCases, ...secretCases];
