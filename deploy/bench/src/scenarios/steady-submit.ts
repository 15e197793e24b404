import { videoWorkflow } from "../graphs";
import type { ApiClient } from "../http";
import { loadPaced } from "../load";
import { metricsOf } from "../metrics";
import { figuresOf } from "../rounds";
import { waitForAll } from "../runs";
import { withWorkflow } from "../workflow";
import type { Bench, Scenario } from "./scenario";

const PER_SECOND = 10;
const PROVIDER_LATENCY_MS = 1_000;
/** Higher than the number of runs in progress at a steady rate. */
const MOST = 500;

interface Submission {
  executionId: string;
  requestId: string | null;
}

const runsInFlight = async (api: ApiClient, workflowSlug: string): Promise<number> => {
  const query = `status=processing&workflowSlug=${workflowSlug}&limit=${MOST}`;
  return (await api.expect<{ rows: unknown[] }>(200, "GET", `/api/executions?${query}`)).rows.length;
};

/** Submits at a fixed rate, independent of the platform's speed; the backlog must not grow. */
export const steadySubmit: Scenario = {
  title: `submitting ${PER_SECOND} asynchronous video runs a second`,
  measure: ({ api, extent, note }: Bench) =>
    withWorkflow(api, videoWorkflow("Bench steady", PROVIDER_LATENCY_MS), async (slug) => {
      const submit = () => api.expect<Submission>(202, "POST", `/api/workflows/${slug}/run?async=true`, { inputs: {} });
      const seconds = (2 * extent.rounds * extent.roundMs) / 1_000;
      const number = Math.round(PER_SECOND * seconds);
      const all = Array.from({ length: number }, (_, index) => index);
      const warm = await loadPaced(all.slice(0, PER_SECOND), PER_SECOND, submit);
      note(`${seconds} s`);
      let halfway = Promise.resolve(0);
      const { sample, results } = await loadPaced(all, PER_SECOND, (index) => {
        if (index === Math.floor(number / 2)) halfway = runsInFlight(api, slug);
        return submit();
      });
      const backlog = { ours: await runsInFlight(api, slug), bare: Math.max(1, await halfway) };
      const ids = [...warm.results, ...results].map(({ executionId }) => executionId);
      await waitForAll(api, ids, "completed");
      const withRequestId = results.filter(({ requestId }) => requestId !== null).length;
      const name = `${PER_SECOND} submits a second`;
      return [
        ...metricsOf("h", name, { ours: figuresOf(sample) }, { p50: null, p99: { kind: "below", value: 500 } }),
        {
          scenario: "h",
          name: `${name}, under way at the end, against halfway`,
          unit: "runs",
          ...backlog,
          target: { kind: "ratio at most", value: 1.5 },
        },
        {
          scenario: "h",
          name: `${name}, with requestId`,
          unit: "%",
          ours: (withRequestId / number) * 100,
          target: { kind: "at least", value: 95 },
        },
      ];
    }),
};
