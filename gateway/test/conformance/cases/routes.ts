import assert from "node:assert/strict";
import { inSection, type Case } from "../case";
import { answers, exactly, fits, is, pick, refuses } from "../check";
import { finished } from "../context";
import { edge, node, save } from "../graphs";
import type { Answer } from "../../../../test-support/client";

const route = inSection("D34");

const STANDARD = "sandbox-image";
const FAST = "sandbox-image-fast";
const BOTH = [STANDARD, FAST];
const idOf = (answer: Answer): string => answer.headers.get("x-execution-id") ?? "";

/** A node that names a task. Only the sandbox's models are allowed, so that the choice is the same everywhere. */
const painting = (data: Record<string, unknown>) => ({
  name: "Painting",
  nodes: [
    node("pic", "generate-image", { model: "auto:image", allow: BOTH, inputs: { prompt: "a boat", sandbox: { latencyMs: 10 } }, ...data }),
    node("out", "response-output", {}),
  ],
  edges: [edge("pic.image", "out.images")],
});

const ROW = exactly({ model: is.text, price: is.number, p50Ms: is.nullOr(is.number), errorRate: is.nullOr(is.number), reason: is.text });

export const routeCases: Case[] = [
  route("a node's `prefer`, `allow` and `maxCredits` choose the model of its task; the quote says why", async (ctx) => {
    const user = await ctx.actor({ tier: "business" });
    const choose = async (data: Record<string, unknown>): Promise<string> => {
      const slug = await save(user, painting(data));
      const { body } = answers(await user.post(`/api/workflows/${slug}/quote`, { inputs: {} }), 200);
      const [quoted] = pick<Record<string, unknown>[]>(body, "nodes");
      assert.equal(quoted!.chosen, quoted!.model);
      const considered = quoted!.considered as Record<string, unknown>[];
      for (const row of considered.slice(0, 1)) fits(row, ROW);
      assert.equal(considered[0]!.model, quoted!.chosen);
      return String(quoted!.chosen);
    };
    assert.equal(await choose({ prefer: "cheapest" }), FAST);
    assert.equal(await choose({ prefer: "cheapest", allow: [STANDARD] }), STANDARD);
    assert.equal(await choose({ maxCredits: 1 }), FAST);
  }),
  route("a task without an allowed model has an issue with a reason for each", async (ctx) => {
    const user = await ctx.actor({ tier: "business" });
    const slug = await save(user, painting({ maxCredits: 0.1 }));
    const refusal = refuses(await user.post(`/api/workflows/${slug}/run`, { inputs: {} }), 422, "WORKFLOW_INVALID");
    const [issue] = pick<{ nodeId: string; message: string }[]>(refusal, "issues");
    fits(issue, { nodeId: "pic", message: is.like(/^no model for auto:image can run: /) });
    for (const name of BOTH) assert.ok(issue!.message.includes(`${name}: one call can cost`), issue!.message);
  }),
  route("an execution keeps the choice, and so do its reruns", async (ctx) => {
    const user = await ctx.actor({ tier: "business" });
    const slug = await save(user, painting({ prefer: "cheapest" }));
    const ran = answers(await user.post(`/api/workflows/${slug}/run`, { inputs: {} }), 200);
    const of = async (id: string) =>
      pick<Record<string, unknown>[]>(await finished(user, id), "nodes").find(({ id: named }) => named === "pic")!;
    const first = await of(idOf(ran));
    fits(first, {
      chosen: FAST,
      considered: [
        { model: FAST, reason: is.text },
        { model: STANDARD, price: is.number },
      ],
    });
    const again = answers(await user.post(`/api/executions/${idOf(ran)}/rerun`, { nodes: ["pic"] }), 200);
    fits(await of(idOf(again)), { chosen: FAST, considered: [{ model: FAST, reason: "kept from the earlier run" }, {}] });
  }),
];
