import assert from "node:assert/strict";
import { inSection, type Case } from "../case";
import { answers, fits, is, pick, refuses } from "../check";
import { edge, node, picture, runGraph, save } from "../graphs";

/** Workflows used as nodes of other workflows. */

const control = inSection("D22");
const QUICK = { sandbox: { latencyMs: 10 } };
const out = node("out", "response-output");
const within = (slug: string, more: object = {}) => node("inner", "workflow", { slug, ...more });
const caption = {
  name: "Caption",
  nodes: [
    node("in", "request-input", { fields: [{ name: "what", type: "text", label: "what", required: true }] }),
    node("box", "text-box", { text: "a {{what}}" }),
    out,
  ],
  edges: [edge("in.what", "box.what"), edge("box.text", "out.text")],
};

export const innerWorkflowCases: Case[] = [
  control("a workflow runs as part of another one, with its fields as inputs and its result as outputs", async (ctx) => {
    const user = await ctx.shared("business", "inner");
    const slug = await save(user, caption);
    const run = await runGraph(user, {
      nodes: [node("list", "list", { items: ["loom", "heron"] }), within(slug), out],
      edges: [edge("list.items", "inner.what"), edge("inner.text", "out.captions")],
    });
    answers(run, 200, { result: { captions: ["a loom", "a heron"] } });
    const polled = answers(await user.get(`/api/executions/${run.headers.get("x-execution-id")}`), 200);
    fits(pick(polled, "inlined"), [{ nodeId: "inner", slug, version: null, contentHash: is.text }]);
    assert.ok(pick<{ id: string }[]>(polled, "nodes").some(({ id }) => id === "inner/box"));
  }),
  control("an inner workflow is quoted and charged with the outer one", async (ctx) => {
    const user = await ctx.actor({ tier: "business" });
    const slug = await save(user, picture(QUICK));
    const graph = { nodes: [within(slug), out], edges: [edge("inner.images", "out.images")] };
    const outer = await save(user, graph);
    answers(await user.post(`/api/workflows/${outer}/quote`, { inputs: {} }), 200, {
      estimatedCreditCost: is.near(0.52),
      exact: true,
      nodes: [{ id: "inner/pic" }],
    });
    answers(await user.post(`/api/workflows/${outer}/run`, { inputs: {} }), 200, { cost: is.near(0.52), result: { images: [is.object] } });
  }),
  control("workflows of others, circles and invalid values are rejected, with their path", async (ctx) => {
    const [user, other] = [await ctx.shared("business", "inner"), await ctx.shared("enterprise", "inner")];
    const theirs = await save(other, caption);
    const issues = (path: string) => ({ issues: [{ nodeId: "inner", message: path }] });
    const missing = refuses(await runGraph(user, { nodes: [within(theirs)] }), 422, "WORKFLOW_INVALID");
    fits(missing.body, issues(`there is no workflow ${theirs}`));
    const mine = await save(user, caption);
    fits(refuses(await runGraph(user, { nodes: [within(mine)] }), 422, "WORKFLOW_INVALID").body, issues("what: is required"));
    const unversioned = await runGraph(user, { nodes: [within(mine, { version: "latest", inputs: { what: "x" } })] });
    fits(refuses(unversioned, 422, "WORKFLOW_INVALID").body, issues('version: must be a version\'s number or "draft"'));
    const first = await save(user, { nodes: [within(mine, { inputs: { what: "x" } })] });
    answers(await user.put(`/api/workflows/${mine}`, { nodes: [within(first)], edges: [] }), 200);
    const circle = refuses(await user.post(`/api/workflows/${first}/run`, { inputs: {} }), 422, "WORKFLOW_INVALID");
    assert.match(JSON.stringify(circle.body), new RegExp(`${first} → ${mine} → ${first}`));
  }),
];
