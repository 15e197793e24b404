import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { strToU8, strFromU8, unzipSync, zipSync } from "fflate";
import type { Answer } from "../../../../test-support/client";
import { inSection, type Case } from "../case";
import { answers, fits, is, noWorkflow, pick, refuses } from "../check";
import type { Actor, Caller, Context } from "../context";
import { edge, node, request } from "../graphs";
import { freshPng } from "./media";

/** Bundles: workflows with their files, moved between accounts. */

const bundles = inSection("D31");
type Files = Readonly<Record<string, string | object | Uint8Array>>;

const packed = (files: Files): Uint8Array =>
  zipSync(
    Object.fromEntries(
      Object.entries(files).map(([name, value]) => {
        if (value instanceof Uint8Array) return [name, value];
        return [name, strToU8(typeof value === "string" ? value : JSON.stringify(value))];
      }),
    ),
  );

const send = async (ctx: Context, actor: Pick<Actor, "key">, zip: Uint8Array, order: Record<string, string> = {}): Promise<Answer> => {
  const form = new FormData();
  for (const [name, value] of Object.entries(order)) form.append(name, value);
  form.append("bundle", new Blob([new Uint8Array(zip)]), "bundle.zip");
  const response = await fetch(`${ctx.baseUrl}/api/bundles`, { method: "POST", headers: { "x-api-key": actor.key }, body: form });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: JSON.parse(text) as Record<string, unknown> };
};

const exported = async (ctx: Context, actor: Pick<Actor, "key">, slugs: readonly string[]): Promise<Record<string, Uint8Array>> => {
  const response = await fetch(`${ctx.baseUrl}/api/bundles?slugs=${slugs.join(",")}`, { headers: { "x-api-key": actor.key } });
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("content-type"), "application/zip");
  return unzipSync(new Uint8Array(await response.arrayBuffer()));
};
const textIn = (files: Record<string, Uint8Array>, name: string): string => strFromU8(files[name]!);

const says = (text: string) => ({
  name: "Inner of a bundle",
  nodes: [node("t", "text-box", { text }), node("out", "response-output")],
  edges: [edge("t.text", "out.text")],
});
/** Returns the result of an inner workflow. */
const uses = (slug: string, more: object = {}) => ({
  name: "Outer of a bundle",
  nodes: [node("w", "workflow", { slug, ...more }), node("out", "response-output")],
  edges: [{ id: "e", source: "w", sourceHandle: "text", target: "out", targetHandle: "text" }],
});
const pair = (text: string, prefix: string): Files => ({
  [`workflows/${prefix}-outer.json`]: uses(`${prefix}-inner`, { version: 7 }),
  [`workflows/${prefix}-inner.json`]: says(text),
});
let count = 0;
const newPrefix = (): string => `bundle-${Date.now().toString(36)}-${(count += 1)}`;
const run = async (actor: Caller, slug: string, query = ""): Promise<string> =>
  pick(answers(await actor.post(`/api/workflows/${slug}/run${query}`, { inputs: {} }), 200), "result.text");

interface PlannedChange {
  name: string;
  slug: string | null;
  action: string;
  version: number | null;
}
const planned = ({ body }: Answer): string[] => (body.workflows as PlannedChange[]).map(({ name, action }) => `${action} ${name}`);
const slugOf = ({ body }: Answer, name: string): string => (body.workflows as PlannedChange[]).find((one) => one.name === name)?.slug ?? "";
const owner = (ctx: Context): Promise<Actor> => ctx.shared("enterprise", "bundles");

export const bundleCases: Case[] = [
  bundles(
    "a plan lists what an import creates, updates and leaves unchanged, and a second import updates the results of the first",
    async (ctx) => {
      const actor = await owner(ctx);
      const prefix = newPrefix();
      const [inner, outer] = [`${prefix}-inner`, `${prefix}-outer`];
      const zip = packed(pair("one", prefix));
      const plan = answers(await send(ctx, actor, zip, { dryRun: "true", alias: "staging" }), 200, {
        ...{ state: "planned", files: [], ignored: [`workflows/${outer}.json: version of the workflow ${inner}`] },
      });
      assert.deepEqual(planned(plan), [`create ${inner}`, `create ${outer}`]);
      noWorkflow(await actor.get(`/api/workflows/${outer}`));
      const order = { alias: "staging", planId: pick(plan, "planId") };
      const applied = answers(await send(ctx, actor, zip, order), 200, { state: "applied", planId: order.planId });
      fits((applied.body.workflows as PlannedChange[])[1], { name: outer, slug: is.text, version: 1, publishes: true });
      assert.equal(await run(actor, slugOf(applied, outer), "?alias=staging"), "one");
      // Repeating the plan returns the same response.
      assert.deepEqual(answers(await send(ctx, actor, zip, order), 200).body.workflows, applied.body.workflows);
      const again = answers(await send(ctx, actor, zip, { alias: "staging" }), 200, { state: "applied" });
      assert.deepEqual(planned(again), [`unchanged ${inner}`, `unchanged ${outer}`]);
      const next = answers(await send(ctx, actor, packed(pair("two", prefix)), { alias: "staging" }), 200);
      assert.deepEqual(planned(next), [`update ${inner}`, `unchanged ${outer}`]);
      assert.equal(slugOf(next, inner), slugOf(applied, inner));
      assert.equal(await run(actor, slugOf(applied, outer), "?alias=staging"), "two");
    },
  ),
  bundles("an import to staging never changes production", async (ctx) => {
    const actor = await owner(ctx);
    const name = newPrefix();
    const file = `workflows/${name}.json`;
    const first = answers(await send(ctx, actor, packed({ [file]: says("one") }), { alias: "production" }), 200);
    const slug = slugOf(first, name);
    answers(await actor.delete(`/api/workflows/${slug}/aliases/production`), 204);
    answers(await send(ctx, actor, packed({ [file]: says("two") }), { alias: "staging" }), 200);
    assert.deepEqual([await run(actor, slug), await run(actor, slug, "?alias=staging")], ["one", "two"]);
    answers(await send(ctx, actor, packed({ [file]: says("two") }), { alias: "production" }), 200);
    assert.equal(await run(actor, slug), "two");
  }),
  bundles("without an alias only drafts change", async (ctx) => {
    const actor = await owner(ctx);
    const name = newPrefix();
    const applied = answers(await send(ctx, actor, packed({ [`workflows/${name}.json`]: says("one") })), 200);
    answers(await actor.get(`/api/workflows/${slugOf(applied, name)}`), 200, { publishedVersion: null });
  }),
  bundles("an outdated plan is rejected, and nothing changes", async (ctx) => {
    const actor = await owner(ctx);
    const name = newPrefix();
    const zipOf = (text: string) => packed({ [`workflows/${name}.json`]: says(text) });
    const slug = slugOf(answers(await send(ctx, actor, zipOf("one")), 200), name);
    const planId: string = pick(answers(await send(ctx, actor, zipOf("two"), { dryRun: "true" }), 200), "planId");
    refuses(await send(ctx, actor, zipOf("three"), { planId }), 409, "PLAN_STALE");
    answers(await actor.put(`/api/workflows/${slug}`, { description: "Edited meanwhile" }), 200);
    refuses(await send(ctx, actor, zipOf("two"), { planId }), 409, "PLAN_STALE");
    assert.equal(await run(actor, slug), "one");
  }),
  bundles("a workflow edited since, or not created by an import, is a conflict unless overwrite is set", async (ctx) => {
    const actor = await owner(ctx);
    const name = newPrefix();
    const zip = packed({ [`workflows/${name}.json`]: says("ours") });
    answers(await actor.post("/api/workflows", { ...says("theirs"), name }), 201, { slug: name });
    const conflicts = { workflows: [{ name, reason: is.text }] };
    refuses(await send(ctx, actor, zip), 409, "BUNDLE_CONFLICT", conflicts);
    assert.deepEqual(planned(answers(await send(ctx, actor, zip, { dryRun: "true" }), 200)), [`conflict ${name}`]);
    assert.equal(slugOf(answers(await send(ctx, actor, zip, { overwrite: "true" }), 200), name), name);
    assert.equal(await run(actor, name), "ours");
    answers(await actor.put(`/api/workflows/${name}`, says("edited")), 200);
    refuses(await send(ctx, actor, zip), 409, "BUNDLE_CONFLICT", conflicts);
    answers(await send(ctx, actor, zip, { overwrite: "true" }), 200);
    assert.equal(await run(actor, name), "ours");
  }),
  bundles("tests travel with their workflow, an edit of them is a conflict, and a file without tests leaves them", async (ctx) => {
    const actor = await owner(ctx);
    const name = newPrefix();
    const tests = [{ name: "dusk", inputs: {}, expect: [{ contains: "dusk" }] }];
    const path = `workflows/${name}.json`;
    const applied = answers(await send(ctx, actor, packed({ [path]: { ...says("dusk"), tests } })), 200);
    const slug = slugOf(applied, name);
    const testsNow = async (): Promise<unknown> => (await actor.get(`/api/workflows/${slug}`)).body.tests;
    assert.deepEqual(await testsNow(), tests);
    const files = await exported(ctx, actor, [slug]);
    assert.deepEqual((JSON.parse(textIn(files, path)) as { tests: unknown }).tests, tests);
    answers(await actor.put(`/api/workflows/${slug}`, { tests: [] }), 200);
    refuses(
      await send(ctx, actor, packed({ [path]: { ...says("dusk"), tests: [{ ...tests[0], name: "dawn" }] } })),
      409,
      "BUNDLE_CONFLICT",
    );
    answers(await send(ctx, actor, packed({ [path]: { ...says("dusk"), tests } }), { overwrite: "true" }), 200);
    answers(await send(ctx, actor, packed({ [path]: says("dusk, later") })), 200);
    assert.deepEqual(await testsNow(), tests);
    const bad = await send(ctx, actor, packed({ [path]: { ...says("dusk"), tests: [{ name: "" }] } }), { dryRun: "true" });
    refuses(bad, 400, "INVALID_REQUEST");
    assert.match(bad.text, /tests\[0\]/);
  }),
  bundles("files are included as bytes, and an export imports into another account", async (ctx) => {
    const actor = await owner(ctx);
    const other = await ctx.shared("business", "bundles elsewhere");
    const [name, bytes] = [newPrefix(), new Uint8Array(freshPng())];
    const zip = packed({
      [`workflows/${name}.json`]: {
        name: "With a file",
        folder: "Deployed",
        nodes: [node("up", "media-upload", { url: "bundle:url:cat.png" }), node("out", "response-output")],
        edges: [edge("up.image", "out.image")],
      },
      "files/cat.png": bytes,
    });
    const plan = answers(await send(ctx, actor, zip, { dryRun: "true" }), 200);
    assert.deepEqual(plan.body.files, ["cat.png"]);
    const slug = slugOf(answers(await send(ctx, actor, zip), 200), name);
    const url: string = pick(answers(await actor.get(`/api/workflows/${slug}`), 200), "nodes.0.data.url");
    assert.ok(Buffer.from(await (await fetch(url)).arrayBuffer()).equals(Buffer.from(bytes)));

    const files = await exported(ctx, actor, [slug]);
    const own = Object.keys(files).filter((path) => path.startsWith("files/"));
    assert.equal(own.length, 1);
    assert.deepEqual(files[own[0]!], bytes);
    assert.doesNotMatch(textIn(files, `workflows/${name}.json`), /\/media\//);
    const there = slugOf(answers(await send(ctx, other, zipSync(files)), 200), name);
    const copy: string = pick(answers(await other.get(`/api/workflows/${there}`), 200), "nodes.0.data.url");
    assert.notEqual(new URL(copy).pathname, new URL(url).pathname);
    assert.ok(Buffer.from(await (await fetch(copy)).arrayBuffer()).equals(Buffer.from(bytes)));
  }),
  bundles("an export includes the inner workflows, but no credentials and no app", async (ctx) => {
    const actor = await owner(ctx);
    const prefix = newPrefix();
    const applied = answers(await send(ctx, actor, packed(pair("inner", prefix)), {}), 200);
    const files = await exported(ctx, actor, [slugOf(applied, `${prefix}-outer`)]);
    assert.deepEqual(Object.keys(files).sort(), ["bundle.json", `workflows/${prefix}-inner.json`, `workflows/${prefix}-outer.json`]);
    assert.deepEqual(planned(answers(await send(ctx, actor, zipSync(files)), 200)), [
      ...[`unchanged ${prefix}-inner`, `unchanged ${prefix}-outer`],
    ]);
    const credential = `ghp_${randomBytes(18).toString("hex")}`;
    const graph = request({ url: "https://nodeloom.invalid/", headers: { Authorization: `Bearer ${credential}` } });
    const slug: string = pick(answers(await actor.post("/api/workflows", { ...graph, name: `${prefix} secret` }), 201), "slug");
    const safe = await exported(ctx, actor, [slug]);
    assert.ok(!textIn(safe, `workflows/${slug}.json`).includes(credential));
    const { redacted } = JSON.parse(textIn(safe, "bundle.json")) as { redacted: string[] };
    assert.deepEqual(redacted, [`${slug}: get: headers: Authorization`]);
  }),
  bundles("app, mcp, isTemplate, publicPlayground, hooks and schedules are ignored and listed", async (ctx) => {
    const actor = await owner(ctx);
    const name = newPrefix();
    const file = `workflows/${name}.json`;
    const switches = { isTemplate: true, publicPlayground: true, mcp: true, app: { published: true } };
    const zip = packed({
      [file]: { ...says("x"), ...switches },
      "bundle.json": { format: 1, hooks: [], schedules: [] },
      "README.md": "Hello",
    });
    const applied = answers(await send(ctx, actor, zip), 200);
    assert.deepEqual(
      new Set(applied.body.ignored as string[]),
      new Set([
        ...Object.keys(switches).map((member) => `${file}: ${member}`),
        ...["bundle.json: hooks", "bundle.json: schedules", "README.md"],
      ]),
    );
    answers(await actor.get(`/api/workflows/${slugOf(applied, name)}`), 200, {
      isTemplate: false,
      publicPlayground: false,
      mcp: is.absent,
    });
  }),
  bundles("an invalid bundle is rejected with the path of its error", async (ctx) => {
    const actor = await owner(ctx);
    const cases: [Uint8Array, RegExp][] = [
      [strToU8("no archive"), /ZIP/],
      [packed({ "README.md": "Hello" }), /no workflow/],
      [packed({ "workflows/a.json": "{" }), /isn't JSON/],
      [packed({ "workflows/A b.json": says("x") }), /lowercase/],
      [packed({ "workflows/a.json": uses("b"), "workflows/b.json": uses("a") }), /uses itself/],
      [
        packed({ "workflows/a.json": { nodes: [node("up", "media-upload", { url: "bundle:url:cat.png" })], edges: [] } }),
        /isn't in the bundle/,
      ],
      [packed({ "../workflows/a.json": says("x"), "workflows/b.json": says("x") }), /invalid relative path/],
      [packed({ "workflows/a.json": says("x"), "bundle.json": { format: 2 } }), /format must be 1/],
    ];
    for (const [zip, message] of cases) assert.match(pick(refuses(await send(ctx, actor, zip), 400, "INVALID_REQUEST"), "error"), message);
    const none = await fetch(`${ctx.baseUrl}/api/bundles`, { method: "POST", headers: { "x-api-key": actor.key }, body: new FormData() });
    assert.equal(none.status, 400);
    const json = await ctx.anonymous.call("POST", "/api/bundles", { body: { dryRun: true }, key: actor.key });
    assert.match(pick(refuses(json, 415, "UNSUPPORTED_MEDIA_TYPE"), "error"), /multipart\/form-data.*field bundle/);
    refuses(await send(ctx, actor, packed({ "workflows/a.json": says("x") }), { alias: "No" }), 400, "INVALID_REQUEST");
  }),
  bundles("a plan names what makes every run of a workflow invalid, and such a workflow isn't published", async (ctx) => {
    const actor = await owner(ctx);
    const name = newPrefix();
    const nodes = [node("box", "text-bx", { text: "x" }), node("out", "response-output")];
    const zip = packed({ [`workflows/${name}.json`]: { nodes, edges: [edge("gone.text", "out.text")] } });
    const problems = [/^box: there is no node kind text-bx: did you mean text-box/, /^out: the edge .* comes from gone/].map(is.like);
    answers(await send(ctx, actor, zip, { dryRun: "true", alias: "staging" }), 200, { workflows: [{ action: "create", problems }] });
    const refusal = refuses(await send(ctx, actor, zip, { alias: "staging" }), 422, "WORKFLOW_INVALID");
    answers(refusal, 422, {
      issues: [
        { nodeId: "box", code: "UNKNOWN_KIND" },
        { nodeId: "out", code: "UNKNOWN_SOURCE" },
      ],
    });
    // A draft can be unfinished.
    answers(await send(ctx, actor, zip), 200, { state: "applied", workflows: [{ problems }] });
    const fixed = packed({ [`workflows/${name}.json`]: says("x") });
    answers(await send(ctx, actor, fixed, { alias: "staging" }), 200, { workflows: [{ version: 1, problems: is.absent }] });
  }),
  bundles("an import needs workflow:write, and for an alias the run capability; it creates an audit row", async (ctx) => {
    const actor = await owner(ctx);
    const name = newPrefix();
    const zip = packed({ [`workflows/${name}.json`]: says("x") });
    const reader = await actor.withKey(["workflow:read", "workflow:run"]);
    refuses(await send(ctx, reader, zip), 403, "CAPABILITY_DENIED", { required: "workflow:write" });
    const writer = await actor.withKey(["workflow:write"]);
    refuses(await send(ctx, writer, zip, { alias: "staging" }), 403, "CAPABILITY_DENIED", { required: "workflow:run" });
    const applied = answers(await send(ctx, await actor.withKey(["workflow:write", "workflow:run"]), zip, { alias: "staging" }), 200);
    const audit = answers(await actor.session.get(`/api/organizations/${actor.userId}/audit`), 200).body;
    const { rows } = audit as { rows: { action: string; after: { planId?: string } | null }[] };
    const row = rows.find(({ action, after }) => action === "bundle.import" && after?.planId === pick(applied, "planId"));
    fits(row, { target: "staging", outcome: "done", after: { planId: pick(applied, "planId"), state: "applied" } });
    const stranger = await ctx.shared("business", "bundles elsewhere");
    const path = `/api/bundles?slugs=${slugOf(applied, name)}`;
    noWorkflow(await stranger.get(path));
  }),
];
