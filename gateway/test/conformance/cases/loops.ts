import assert from "node:assert/strict";
import type { Answer } from "../../../../test-support/client";
import { inSection, type Case } from "../case";
import { answers, fits, is, pick, refuses } from "../check";
import { eventually, type Actor, type Context } from "../context";
import { edge, node, save } from "../graphs";

/** Loops: workflows that run several times, until their result is good enough. */

const loops = inSection("D34");
const PRICE = 0.52;
const out = node("out", "response-output");
const idOf = (answer: Answer): string => answer.headers.get("x-execution-id") ?? "";

/** One turn: a picture from the picture before, and the list of all pictures. */
const picture = (sandbox: object = { latencyMs: 10 }, model = "sandbox-image-fast") => ({
  nodes: [
    node("in", "request-input", {
      fields: [
        { name: "before", type: "image_upload", label: "Before" },
        { name: "kept", type: "json", label: "Kept" },
      ],
    }),
    node("pic", "generate-image", { model, inputs: { prompt: "a loom", sandbox } }),
    node("all", "list"),
    out,
  ],
  edges: [
    ...[edge("in.before", "pic.image"), edge("in.kept", "all.items"), edge("pic.image", "all.items")],
    ...[edge("pic.image", "out.picture"), edge("all.items", "out.kept")],
  ],
});
const FEEDBACK = { picture: "before", kept: "kept" };

const looped = (slug: string, data: object) => ({
  nodes: [node("loop", "loop", { slug, count: 4, until: "turns == `2`", feedback: FEEDBACK, ...data }), out],
  edges: [edge("loop.picture", "out.images"), edge("loop.kept", "out.kept"), edge("loop.turns", "out.turns")],
});

/** A saved loop over pictures. @returns its slug */
const saved = async (user: Actor, data: object = {}, inner = picture()): Promise<string> =>
  save(user, looped(await save(user, inner), data));
const run = (user: Actor, slug: string): Promise<Answer> => user.post(`/api/workflows/${slug}/run`, { inputs: {} });

const polled = async (user: Actor, id: string): Promise<Map<string, Record<string, unknown>>> => {
  const { nodes } = answers(await user.get(`/api/executions/${id}`), 200).body as { nodes: { id: string }[] };
  return new Map(nodes.map((one) => [one.id, one]));
};

export const loopCases: Case[] = [
  loops("a loop ends after the turn for which `until` is true, and only the turns that ran are charged", async (ctx: Context) => {
    const user = await ctx.actor({ tier: "business" });
    const slug = await saved(user);
    answers(await user.post(`/api/workflows/${slug}/quote`, { inputs: {} }), 200, {
      estimatedCreditCost: is.near(4 * PRICE),
      maxCreditCost: is.near(4 * PRICE),
      exact: false,
    });
    const reply = answers(await run(user, slug), 200, {
      cost: is.near(2 * PRICE),
      result: { images: [is.object], kept: [is.object, is.object], turns: 2 },
    });
    const nodes = await polled(user, idOf(reply));
    for (const turn of [1, 2]) fits(nodes.get(`loop/${turn}/pic`), { status: "completed", creditsCost: is.near(PRICE) });
    for (const turn of [3, 4]) fits(nodes.get(`loop/${turn}/pic`), { status: "skipped", creditsCost: 0 });
    fits(nodes.get("loop/2"), { type: "loop", status: "completed", outputs: { turns: 2 } });
    assert.equal((await user.credits()).held, 0);
  }),
  loops("every turn runs if `until` is never true or empty", async (ctx) => {
    const user = await ctx.shared("business", "loops");
    for (const until of ["turns > `9`", ""])
      answers(await run(user, await saved(user, { count: 2, until })), 200, { cost: is.near(2 * PRICE), result: { turns: 2 } });
  }),
  loops("an answer of a language model can end a loop", async (ctx) => {
    const user = await ctx.shared("business", "loops");
    const schema = { type: "object", required: ["score"], properties: { score: { type: "integer", minimum: 4, maximum: 4 } } };
    const judge = await save(user, {
      nodes: [node("judge", "llm-assistant", { model: "sandbox-chat", prompt: "Judge a loom.", schema }), out],
      edges: [edge("judge.json", "out.verdict")],
    });
    const graph = {
      nodes: [node("loop", "loop", { slug: judge, count: 20, until: "verdict.score >= `4`" }), out],
      edges: [edge("loop.verdict", "out.verdict"), edge("loop.turns", "out.turns")],
    };
    answers(await run(user, await save(user, graph)), 200, { result: { verdict: { score: 4 }, turns: 1 } });
  }),
  loops("a rerun pays only for turns that are new", async (ctx) => {
    const user = await ctx.shared("business", "loops");
    const first = answers(await run(user, await saved(user)), 200);
    const again = (body: object) => user.post(`/api/executions/${idOf(first)}/rerun`, body);
    const rerun = answers(await again({}), 200, { cost: 0, result: { turns: 2 } });
    assert.deepEqual(pick<object>(rerun, "result"), pick<object>(first, "result"));
    answers(await again({ nodes: ["loop/2/pic"] }), 200, { cost: is.near(PRICE), result: { turns: 2 } });
  }),
  loops("a run can end at a node of a turn", async (ctx) => {
    const user = await ctx.shared("business", "loops");
    const reply = answers(await user.post(`/api/workflows/${await saved(user)}/run`, { inputs: {}, until: "loop/2/pic" }), 200, {
      cost: is.near(2 * PRICE),
    });
    const nodes = await polled(user, idOf(reply));
    assert.ok(nodes.has("loop/2/pic") && !nodes.has("loop/3/pic"));
  }),
  loops("a turn that fails fails the run, and later turns don't run", async (ctx) => {
    const user = await ctx.shared("business", "loops");
    const slug = await saved(user, {}, picture({ latencyMs: 10, fail: "job" }));
    const failed = refuses(await run(user, slug), 500, "EXECUTION_FAILED", { nodeId: "loop/1/pic" });
    const nodes = await polled(user, idOf(failed));
    fits(nodes.get("loop/1/pic"), { status: "failed" });
    fits(nodes.get("loop/2/pic"), { status: "skipped" });
  }),
  loops("cancelling a run ends its loop", async (ctx) => {
    const user = await ctx.shared("business", "loops");
    const slug = await saved(user, {}, picture({ latencyMs: 60_000 }, "sandbox-image"));
    const id = pick(answers(await user.post(`/api/workflows/${slug}/run?async=true`, { inputs: {} }), 202), "executionId");
    await eventually(
      () => user.get(`/api/executions/${id}`),
      ({ body }) => JSON.stringify(body).includes('"processing"'),
    );
    answers(await user.post(`/api/executions/${id}/cancel`), 200);
    await eventually(
      () => user.get(`/api/executions/${id}`),
      ({ body }) => pick(body as object, "status") === "cancelled",
    );
    const nodes = await polled(user, id);
    fits(nodes.get("loop/1/pic"), { status: "cancelled" });
    fits(nodes.get("loop/2/pic"), { status: "skipped" });
  }),
  loops("invalid settings of a loop are rejected, with a suggestion for a misspelt name", async (ctx) => {
    const user = await ctx.shared("business", "loops");
    const rejected = async (data: object, message: string) => {
      const refusal = refuses(await run(user, await saved(user, data)), 422, "WORKFLOW_INVALID");
      fits(refusal.body, { issues: [{ nodeId: "loop", code: "SETTING_INVALID", message }] });
    };
    await rejected({ count: 21 }, "count: must be a whole number from 1 to 20");
    await rejected({ until: "turns ==" }, "until: its end at character 9 isn't allowed there");
    await rejected(
      { feedback: { pictur: "before" } },
      "feedback: the workflow has no output pictur; it has picture, kept: did you mean picture?",
    );
    await rejected(
      { feedback: { picture: "befor" } },
      "feedback.picture: the workflow has no input befor; it has before, kept: did you mean before?",
    );
  }),
  loops("a loop runs the version of its workflow that the execution records", async (ctx) => {
    const user = await ctx.shared("business", "loops");
    const inner = await save(user, picture());
    answers(await user.post(`/api/workflows/${inner}/versions`, {}), 201);
    const reply = answers(await run(user, await save(user, looped(inner, { count: 1, until: "" }))), 200);
    fits(answers(await user.get(`/api/executions/${idOf(reply)}`), 200).body, { inlined: [{ nodeId: "loop", slug: inner, version: 1 }] });
  }),
];
