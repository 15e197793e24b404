import { answers } from "../../conformance/check";
import type { AbuseCase } from "../case";

export const usageCases: AbuseCase[] = [
  {
    id: "usage-far-offset",
    title: "usage by filters that match nothing, a billion rows behind its end",
    attack: async ({ attacker }) => {
      const answer = await attacker.get("/api/usage?offset=1000000000&workflowSlug=nothing-of-this-name&modelId=none&limit=500");
      if (answer.status !== 429) answers(answer, 200, { rows: [], total: 0 });
    },
  },
];
