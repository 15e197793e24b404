import assert from "node:assert/strict";
import type { Answer } from "../../../../test-support/client";
import { inSection, type Case } from "../case";
import { answers, differences, is } from "../check";
import type { Actor, Context } from "../context";

/** Agents that build workflows over MCP. */

const agents = inSection("D26");

interface Result {
  isError?: boolean;
  content: { type: string; text?: string }[];
  structuredContent?: Record<string, unknown>;
}

const builder = (ctx: Context): Promise<Actor> => ctx.shared("enterprise", "agents that build");

/** Calls a tool. @returns its value, or its error with the member `isError` */
const tool = async (actor: Actor, name: string, args: object): Promise<Record<string, unknown>> => {
  const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } };
  const answer: Answer = await actor.call("POST", "/mcp", { body: message, headers: { authorization: `Bearer ${actor.key}` } });
  answers(answer, 200);
  const { isError, content, structuredContent } = answer.body.result as Result;
  return { ...(structuredContent ?? (JSON.parse(content[0]!.text!) as object)), ...(isError ? { isError } : {}) };
};
const matches = (value: object, pattern: object): void => assert.deepEqual(differences(value, pattern), []);

const POSTER = [
  { op: "add_node", id: "in", type: "request-input", data: { fields: [{ name: "subject", type: "text" }] } },
  { op: "add_node", id: "picture", type: "generate-image", data: { model: "sandbox-image-fas" } },
  { op: "add_node", id: "out", type: "response-output" },
  { op: "connect", source: "in", sourceHandle: "subject", target: "picture", targetHandle: "prompt" },
  { op: "connect", source: "picture", sourceHandle: "image", target: "out", targetHandle: "images" },
];
const inputs = { subject: "a heron" };

export const agentCases: Case[] = [
  agents("an agent builds a workflow from nothing: it sees a problem, mends it, tries a node, publishes and runs it", async (ctx) => {
    const actor = await builder(ctx);
    const { slug, revision } = await tool(actor, "save_workflow", { name: "Posters by an agent" });
    const broken = await tool(actor, "patch_workflow", { slug, revision, operations: POSTER });
    matches(broken, {
      saved: true,
      valid: false,
      issues: [{ nodeId: "picture", code: "MODEL_UNKNOWN", message: is.like(/did you mean sandbox-image-fast/) }],
    });
    const mend = [{ op: "set_data", id: "picture", data: { model: "sandbox-image-fast" } }];
    const priced = await tool(actor, "patch_workflow", { slug, revision: broken.revision, operations: mend });
    matches(priced, {
      saved: true,
      valid: true,
      issues: [],
      estimatedCreditCost: is.positive,
      exact: true,
      assumedInputs: { subject: is.text },
    });
    matches(await tool(actor, "validate", { slug }), { valid: true, estimatedCreditCost: priced.estimatedCreditCost });

    const tried = await tool(actor, "run_node", { slug, node: "picture", inputs });
    matches(tried, { status: "completed", cost: priced.estimatedCreditCost, outputs: { image: is.list } });
    const renamed = [{ op: "rename", id: "out", label: "Poster" }];
    await tool(actor, "patch_workflow", { slug, operations: renamed });
    matches(await tool(actor, "run_node", { slug, node: "picture" }), { cost: 0, reusedFrom: tried.executionId });
    matches(await tool(actor, "run_node", { slug, node: "picture", again: true }), { cost: priced.estimatedCreditCost });

    matches(await tool(actor, "publish", { slug, note: "First" }), { slug, version: 1 });
    matches(await tool(actor, "run", { workflow: slug, inputs }), { status: "completed", result: { images: is.list } });
  }),
  agents("a change at another revision is refused, and one operation that fails leaves the draft as it was", async (ctx) => {
    const actor = await builder(ctx);
    const { slug, revision } = await tool(actor, "save_workflow", { name: "Kept by an agent" });
    const bad = [...POSTER, { op: "remove_node", id: "nothing" }];
    matches(await tool(actor, "patch_workflow", { slug, operations: bad }), {
      isError: true,
      code: "INVALID_REQUEST",
      issues: [{ path: "operations.5.id", message: is.text }],
    });
    matches(await tool(actor, "patch_workflow", { slug, operations: POSTER, dryRun: true }), { saved: false, valid: false });
    matches(await tool(actor, "get_workflow", { slug }), { revision, nodes: [] });
    const stale = await tool(actor, "patch_workflow", { slug, revision: Number(revision) - 1, operations: POSTER });
    matches(stale, { isError: true, code: "PRECONDITION_FAILED", revision });
  }),
  agents("a graph that isn't saved is checked like a saved one, with its inner workflows, files and secrets", async (ctx) => {
    const actor = await builder(ctx);
    const check = (...nodes: object[]) => tool(actor, "validate", { nodes, edges: [] });
    matches(await check({ id: "a", type: "workflow", data: { slug: "there-is-none" } }), {
      valid: false,
      issues: [{ nodeId: "a", code: "WORKFLOW_UNFIT" }],
    });
    matches(await check({ id: "a", type: "media-upload", data: { mediaId: "nothing" } }), {
      valid: false,
      issues: [{ nodeId: "a", code: "FILE_UNKNOWN" }],
    });
    const secret = { url: "https://example.com/{{secrets.NOT_THERE}}" };
    matches(await check({ id: "a", type: "http-request", data: secret }), {
      valid: false,
      issues: [{ nodeId: "a", code: "SECRET_UNKNOWN" }],
    });
    matches(await check({ id: "a", type: "text-box", data: { text: "x" } }), { valid: true, estimatedCreditCost: null });
  }),
];
