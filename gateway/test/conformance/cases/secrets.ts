import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { inSection, type Case } from "../case";
import { answers, is, pick, refuses } from "../check";
import { finished, type Actor, type Context } from "../context";
import { edge, node, request, runGraph, save } from "../graphs";
import type { Answer } from "../../../../test-support/client";

const secrets = inSection("D18");

const user = (ctx: Context): Promise<Actor> => ctx.shared("pro", "secrets");
const NEVER_SENT = "nodeloom.invalid";
const newValue = (): string => `sk-${randomBytes(18).toString("base64url")}`;
const set = async (actor: Actor, name: string, hosts: string[], value = newValue()): Promise<string> => {
  answers(await actor.session.put(`/api/secrets/${name}`, { value, hosts }), 200);
  return value;
};
const executionOf = async (actor: Actor, run: Answer): Promise<Answer> => finished(actor, String(run.headers.get("x-execution-id")));

/** Sends a secret in a header and in the body. */
const sending = (url: string, name: string) =>
  request({
    ...{ method: "POST", url, headers: { Authorization: `Bearer {{secrets.${name}}}` }, body: { deep: [`<{{secrets.${name}}}>`] } },
  });

export const secretCases: Case[] = [
  secrets("a secret is set, listed with its hosts and uses but never its value, replaced and deleted", async (ctx) => {
    const actor = await user(ctx);
    const value = await set(actor, "LISTED", ["API.Example.com", "example.com:8443"]);
    const slug = await save(actor, sending("https://api.example.com/", "LISTED"));
    const listed = answers(await actor.session.get("/api/secrets"), 200, { configured: true });
    const [listedSecret] = pick<Record<string, unknown>[]>(listed, "secrets").filter(({ name }) => name === "LISTED");
    assert.deepEqual(listedSecret, {
      ...{ name: "LISTED", hosts: ["api.example.com", "example.com:8443"] },
      ...{ createdAt: listedSecret?.createdAt, updatedAt: listedSecret?.updatedAt, usedBy: [{ slug, name: "Request" }] },
    });
    assert.ok(!listed.text.includes(value));
    answers(await actor.session.put("/api/secrets/LISTED", { value: newValue(), hosts: ["api.example.com"] }), 200, {
      ...{ name: "LISTED", hosts: ["api.example.com"], createdAt: is.time, updatedAt: is.time },
    });
    answers(await actor.session.delete("/api/secrets/LISTED"), 204);
    refuses(await actor.session.delete("/api/secrets/LISTED"), 404, "NOT_FOUND");
  }),
  secrets("secrets are set only by session, with a name in capitals, and a value and hosts of a valid form", async (ctx) => {
    const actor = await user(ctx);
    const body = { value: newValue(), hosts: ["api.example.com"] };
    refuses(await actor.put("/api/secrets/KEY", body), 403, "SESSION_REQUIRED");
    refuses(await actor.get("/api/secrets"), 403, "SESSION_REQUIRED");
    refuses(await actor.session.put("/api/secrets/lower", body), 400, "INVALID_REQUEST");
    for (const wrong of [
      { value: "short" },
      { value: "two\nlines of it" },
      { hosts: [] },
      { hosts: ["https://api.example.com"] },
      { hosts: ["user@api.example.com"] },
      { hosts: ["api.example.com/path"] },
      { hosts: ["169.254.169.254"] },
      { more: 1 },
    ])
      refuses(await actor.session.put("/api/secrets/KEY", { ...body, ...wrong }), 400, "INVALID_REQUEST");
  }),
  secrets(
    "an HTTP node sends a secret to its host, and the response and the execution show its name instead",
    async (ctx) => {
      const actor = await user(ctx);
      let value = "";
      const inbox = ctx.receiver!.inbox((response) => {
        response.setHeader("content-type", "application/json");
        response.end(JSON.stringify({ echo: `Bearer ${value}`, basic: Buffer.from(`user:${value}`).toString("base64") }));
      });
      value = await set(actor, "SENT", [new URL(inbox.url).host]);
      const run = answers(await runGraph(actor, sending(inbox.url, "SENT")), 200, { result: { status: 200 } });
      assert.equal(inbox.deliveries.length, 1);
      assert.equal(inbox.deliveries[0]!.headers.authorization, `Bearer ${value}`);
      assert.deepEqual(JSON.parse(inbox.deliveries[0]!.body), { deep: [`<${value}>`] });
      const shownText = [run.text, (await executionOf(actor, run)).text].join();
      assert.ok(shownText.includes("Bearer [secrets.SENT]"), shownText);
      assert.ok(!shownText.includes(value) && !shownText.includes(Buffer.from(value).toString("base64").slice(0, 16)), shownText);
    },
    { needs: ["receiver"] },
  ),
  secrets(
    "an input can't name a secret",
    async (ctx) => {
      const actor = await user(ctx);
      const inbox = ctx.receiver!.inbox();
      await set(actor, "MINE", [new URL(inbox.url).host]);
      const graph = (headers: Record<string, string>) => ({
        name: "Input",
        nodes: [
          node("in", "request-input", { fields: [{ name: "x", type: "text", label: "x" }] }),
          node("get", "http-request", { method: "GET", url: inbox.url, headers }),
          node("out", "response-output"),
        ],
        edges: [edge("in.x", "get.x"), edge("get.status", "out.status")],
      });
      const inputs = { x: "{{secrets.MINE}}" };
      answers(await runGraph(actor, graph({ "x-text": "{{x}}" }), inputs), 200);
      assert.equal(inbox.deliveries[0]!.headers["x-text"], "{{secrets.MINE}}");
      refuses(await runGraph(actor, graph({ "x-text": "{{x}}", authorization: "{{secrets.MINE}}" }), inputs), 422, "WORKFLOW_INVALID");
      assert.equal(inbox.deliveries.length, 1);
    },
    { needs: ["receiver"] },
  ),
  secrets("a request to another host, or by plain http, fails its node, and the error names the secret and the host", async (ctx) => {
    const actor = await user(ctx);
    await set(actor, "ELSEWHERE", ["api.example.com", NEVER_SENT]);
    for (const [url, what] of [
      ["https://evil.invalid/", "evil.invalid"],
      [`https://${NEVER_SENT}@evil.invalid/`, "evil.invalid"],
      [`https://${NEVER_SENT}:8443/`, `${NEVER_SENT}:8443`],
      [`http://${NEVER_SENT}/`, "https alone"],
    ] as const) {
      const answer = refuses(await runGraph(actor, sending(url, "ELSEWHERE")), 500, "EXECUTION_FAILED");
      const error = String(answer.body.error);
      assert.ok(error.includes("ELSEWHERE") && error.includes(what), error);
    }
  }),
  secrets("a missing secret is WORKFLOW_INVALID, in a quote and in a run", async (ctx) => {
    const actor = await user(ctx);
    const slug = await save(actor, sending(`https://${NEVER_SENT}/`, "MISSING_ONE"));
    for (const what of ["quote", "run"]) {
      const answer = refuses(await actor.post(`/api/workflows/${slug}/${what}`, { inputs: {} }), 422, "WORKFLOW_INVALID");
      assert.ok(String(answer.body.error).includes("MISSING_ONE"));
    }
  }),
  secrets("a secret limited to workflows is sent by nodes of their graphs only, also inside other workflows", async (ctx) => {
    const actor = await user(ctx);
    const [slug, other] = [
      await save(actor, sending(`https://${NEVER_SENT}/`, "LIMITED")),
      await save(actor, { ...sending(`https://${NEVER_SENT}/`, "LIMITED"), name: "Other" }),
    ];
    const body = { value: newValue(), hosts: [NEVER_SENT], workflows: [slug] };
    const stored = answers(await actor.session.put("/api/secrets/LIMITED", body), 200);
    assert.deepEqual(stored.body.workflows, [slug]);
    const run = (name: string) => actor.post(`/api/workflows/${name}/run`, { inputs: {} });
    // The request gets as far as the host, which doesn't exist.
    refuses(await run(slug), 500, "EXECUTION_FAILED");
    const refusal = refuses(await run(other), 422, "WORKFLOW_INVALID");
    assert.ok(
      ["LIMITED", slug, other].every((name) => String(refusal.body.error).includes(name)),
      refusal.text,
    );
    const outer = {
      name: "Outer",
      nodes: [node("inner", "workflow", { slug }), node("out", "response-output")],
      edges: [edge("inner.status", "out.status")],
    };
    refuses(await runGraph(actor, outer), 500, "EXECUTION_FAILED");
    refuses(await actor.session.put("/api/secrets/LIMITED", { ...body, workflows: ["no-such-workflow"] }), 400, "INVALID_REQUEST");
    refuses(await actor.session.put("/api/secrets/LIMITED", { ...body, workflows: [] }), 400, "INVALID_REQUEST");
    const { workflows: _, ...everywhere } = body;
    answers(await actor.session.put("/api/secrets/LIMITED", everywhere), 200);
    refuses(await run(other), 500, "EXECUTION_FAILED");
  }),
  secrets(
    "a template that sends a secret must be cloned first: run by others it is WORKFLOW_INVALID, also as an inner workflow",
    async (ctx) => {
      const [author, stranger] = [await user(ctx), await ctx.shared("pro", "secrets of others")];
      for (const one of [author, stranger]) await set(one, "SAME_NAME", [NEVER_SENT]);
      const slug = await save(author, { ...sending(`https://${NEVER_SENT}/`, "SAME_NAME"), isTemplate: true });
      const refusal = refuses(await stranger.post(`/api/workflows/${slug}/run`, { inputs: {} }), 422, "WORKFLOW_INVALID");
      assert.ok(String(refusal.body.error).includes("clone this one first"), refusal.text);
      const outer = {
        name: "Outer",
        nodes: [node("inner", "workflow", { slug }), node("out", "response-output")],
        edges: [edge("inner.status", "out.status")],
      };
      refuses(await runGraph(stranger, outer), 422, "WORKFLOW_INVALID");
      const clone = answers(await stranger.post(`/api/workflows/${slug}/clone`, {}), 201);
      // The copy belongs to the stranger now: its request gets as far as the host, which doesn't exist.
      refuses(await stranger.post(`/api/workflows/${pick<string>(clone, "slug")}/run`, { inputs: {} }), 500, "EXECUTION_FAILED");
      answers(await author.put(`/api/workflows/${slug}`, { isTemplate: false }), 200);
    },
  ),
  secrets("a secret in any other node is an empty text, with a warning", async (ctx) => {
    const actor = await user(ctx);
    await set(actor, "NOT_HERE", [NEVER_SENT]);
    const run = await runGraph(actor, {
      nodes: [node("t", "text-box", { text: "<{{secrets.NOT_HERE}}>" }), node("out", "response-output")],
      edges: [edge("t.text", "out.text")],
    });
    answers(run, 200, { result: { text: "<>" } });
    assert.ok((await executionOf(actor, run)).text.includes("{{secrets.NOT_HERE}} is a secret"));
  }),
  secrets("a literal that looks like a credential causes a warning, and is rejected in a template", async (ctx) => {
    const actor = await user(ctx);
    // Assembled here, so that secret scanners find nothing in this file.
    const literal = ["ghp", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"].join("_");
    const graph = request({ url: `https://${NEVER_SENT}/`, headers: { "x-token": literal } });
    const slug = await save(actor, graph);
    const failed = await actor.post(`/api/workflows/${slug}/run`, { inputs: {} });
    const warned = (await executionOf(actor, failed)).text;
    assert.ok(warned.includes("headers: x-token looks like a credential"), warned);
    for (const answer of [
      await actor.put(`/api/workflows/${slug}`, { isTemplate: true }),
      await actor.post("/api/workflows", { ...graph, name: "Leaky", isTemplate: true }),
    ]) {
      refuses(answer, 422, "WORKFLOW_INVALID");
      assert.ok(!answer.text.includes(literal));
    }
    answers(await actor.put(`/api/workflows/${slug}`, { ...sending(`https://${NEVER_SENT}/`, "NOT_HERE"), isTemplate: true }), 200);
    answers(await actor.put(`/api/workflows/${slug}`, { isTemplate: false }), 200);
  }),
];
