import assert from "node:assert/strict";
import { LIMITS } from "@nodeloom/kernel";
import { answers, pick, refuses } from "../../conformance/check";
import { edge, node, save } from "../../conformance/graphs";
import { finished, type Actor } from "../../conformance/context";
import type { AbuseCase } from "../case";

const RACERS = 50;
const STRANGERS = 10;
/** Part of the account's limit of waiting runs that an attack doesn't use. */
const FREE = 10;
const BEYOND = 5;
const AT_ONCE = 20;

const reviewed = {
  name: "Reviewed",
  nodes: [node("text", "text-box", { text: "words" }), node("review", "approval", { title: "Good?" }), node("out", "response-output")],
  edges: [edge("text.text", "review.value"), edge("review.approved", "out.text")],
};
let slug = "";
const waiting: string[] = [];

const prepare = async (actor: Actor): Promise<void> => {
  slug ||= await save(actor, reviewed);
};

/**
 * Starts runs that wait, some in parallel.
 * @returns their ids, and the number of runs rejected at the limit
 */
const begin = async (actor: Actor, count: number): Promise<{ runIds: string[]; refusals: number }> => {
  const runIds: string[] = [];
  for (let sentCount = 0; sentCount < count; sentCount += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, count - sentCount) });
    for (const answer of await Promise.all(some.map(() => actor.post(`/api/workflows/${slug}/run`, { inputs: {} })))) {
      if (answer.status === 202) runIds.push(pick(answer, "executionId"));
      else refuses(answer, 429, "CONCURRENCY_LIMIT_EXCEEDED", { limit: LIMITS.waitingRuns });
    }
  }
  return { runIds, refusals: count - runIds.length };
};

const cancelAll = async (actor: Actor, ids: readonly string[]): Promise<void> => {
  for (let first = 0; first < ids.length; first += AT_ONCE)
    await Promise.all(ids.slice(first, first + AT_ONCE).map((id) => actor.post(`/api/executions/${id}/cancel`)));
};

export const approvalCases: AbuseCase[] = [
  {
    id: "approvals-race",
    title: "fifty decisions at once on one run, and a stranger's among them",
    requests: 1 + RACERS + STRANGERS,
    prepare: ({ unlimited }) => prepare(unlimited),
    attack: async ({ unlimited, attacker }) => {
      const id = pick(answers(await unlimited.post(`/api/workflows/${slug}/run`, { inputs: {} }), 202), "executionId");
      const path = `/api/executions/${id}/decisions`;
      const strangers = Array.from({ length: STRANGERS }, () => attacker.post(path, { nodeId: "review", decision: "approve" }));
      const decided = await Promise.all(
        Array.from({ length: RACERS }, () => unlimited.post(path, { nodeId: "review", decision: "approve", value: "other words" })),
      );
      for (const answer of await Promise.all(strangers)) if (answer.status !== 429) refuses(answer, 404, "EXECUTION_NOT_FOUND");
      assert.equal(decided.filter(({ status }) => status === 200).length, 1);
      for (const answer of decided) if (answer.status !== 200) refuses(answer, 409, "NOT_WAITING");
    },
  },
  {
    id: "approvals-flood",
    title: "more runs that wait than an account may have",
    requests: 2 * FREE + BEYOND,
    prepare: async ({ unlimited }) => {
      await prepare(unlimited);
      waiting.push(...(await begin(unlimited, LIMITS.waitingRuns - FREE)).runIds);
    },
    attack: async ({ unlimited }) => {
      const { runIds, refusals } = await begin(unlimited, FREE + BEYOND);
      await cancelAll(unlimited, runIds);
      // Unfinished runs would count towards the limit in the next attack.
      await Promise.all(runIds.map((id) => finished(unlimited, id)));
      assert.deepEqual([runIds.length, refusals], [FREE, BEYOND]);
    },
    cleanUp: ({ unlimited }) => cancelAll(unlimited, waiting.splice(0)),
  },
];
