import assert from "node:assert/strict";
import { answers, refuses } from "../../conformance/check";
import type { Actor } from "../../conformance/context";
import type { AbuseCase } from "../case";

/** More tests than two adjacent minutes allow. */
const WEBHOOK_TESTS = 130;
let caller: Actor;

export const usageCases: AbuseCase[] = [
  {
    id: "usage-far-offset",
    title: "usage by filters that match nothing, a billion rows behind its end",
    attack: async ({ attacker }) => {
      const answer = await attacker.get("/api/usage?offset=1000000000&workflowSlug=nothing-of-this-name&modelId=none&limit=500");
      if (answer.status !== 429) answers(answer, 200, { rows: [], total: 0 });
    },
  },
  {
    id: "usage-outgoing-budget",
    title: "130 tests of a webhook, one after another, by a user without a limit of requests",
    requests: WEBHOOK_TESTS,
    prepare: async ({ context }) => {
      caller = await context.actor({ tier: "enterprise", webhook: { url: "http://nowhere.invalid/hook" } });
    },
    attack: async () => {
      let refusedCount = 0;
      for (let turn = 0; turn < WEBHOOK_TESTS; turn += 1) {
        const answer = await caller.session.post(`/api/keys/${caller.keyId}/webhook/test`);
        if (answer.status === 200) continue;
        refuses(answer, 429, "RATE_LIMIT_EXCEEDED");
        refusedCount += 1;
      }
      assert.ok(refusedCount > 0, "there was no budget");
    },
  },
];
