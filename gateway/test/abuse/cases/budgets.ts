import assert from "node:assert/strict";
import { answers, pick, refuses } from "../../conformance/check";
import type { Actor } from "../../conformance/context";
import { call, type Answer } from "../../../../test-support/client";
import type { AbuseCase } from "../case";

const MODEL = "sandbox-image-fast";
const INPUTS = { prompt: "a loom", sandbox: { latencyMs: 10 } };
const RUNS = 30;
const FITTING = 7;
const inThousandths = (credits: number): number => Math.round(credits * 1_000);

let racer: Actor;

export const budgetCases: AbuseCase[] = [
  {
    id: "budgets-raced",
    title: "30 runs at once through several gateways against a key's budget, which has a milli-credit less than eight of them take",
    requests: RUNS,
    prepare: async ({ context }) => {
      racer = await context.actor({ tier: "enterprise" });
    },
    attack: async ({ gateways }) => {
      const issued = await racer.withKey({ preset: "full-deploy" });
      const price = inThousandths(
        pick(answers(await issued.post(`/api/models/${MODEL}/quote`, { inputs: INPUTS }), 200), "estimatedCreditCost"),
      );
      const limit = (FITTING + 1) * price - 1;
      const path = `/api/keys/${issued.keyId}/budget`;
      answers(await racer.session.put(path, { credits: limit / 1_000, window: "total", alertAt: [] }), 200);
      const runAt = (gateway: string): Promise<Answer> =>
        call(gateway, "POST", `/api/models/${MODEL}/run`, { key: issued.key, body: { inputs: INPUTS } });
      const runs = await Promise.all(Array.from({ length: RUNS }, (_, turn) => runAt(gateways[turn % gateways.length]!)));
      const refusals = runs.filter(({ status }) => status !== 200);
      for (const answer of refusals) refuses(answer, 402, "BUDGET_EXCEEDED", { scope: "key" });
      const charged = runs.filter(({ status }) => status === 200).map((answer) => inThousandths(pick(answer, "cost")));
      const used = inThousandths(pick(answers(await racer.session.get(path), 200), "used"));
      assert.equal(
        used,
        charged.reduce((sum, cost) => sum + cost, 0),
      );
      assert.ok(used <= limit, `${used} of ${limit} thousandths were used`);
      assert.equal(charged.length, FITTING);
    },
  },
];
