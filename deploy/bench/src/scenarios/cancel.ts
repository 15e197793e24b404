import { textWorkflow, videoWorkflow } from "../graphs";
import { loadEach, loadPaced, steadyLoad } from "../load";
import { metricsOf } from "../metrics";
import { figuresOf, pooled, type Sample } from "../rounds";
import { cancelRun, submit, waitForAll } from "../runs";
import { withWorkflow } from "../workflow";
import type { Bench, Scenario } from "./scenario";

const SUBMITS_IN_PARALLEL = 10;
/** Longer than a round, because all these runs are cancelled. */
const PROVIDER_LATENCY_MS = 60_000;
/** Rate of cancellations. With the rate of synchronous runs it is well below the capacity of two cores. */
const CANCELS_PER_SECOND = 10;
const LOAD_PER_SECOND = 10;

/** Time until a cancellation is accepted under other load. Its effect is checked afterwards. */
export const cancel: Scenario = {
  title: "cancelling an asynchronous video run while other runs go on",
  measure: ({ api, extent, note }: Bench) =>
    withWorkflow(api, textWorkflow(), (background) =>
      withWorkflow(api, videoWorkflow("Bench long video", PROVIDER_LATENCY_MS), async (slug) => {
        const runInBackground = () => api.expect(200, "POST", `/api/workflows/${background}/run`, { inputs: {} });

        const round = async (runs: number): Promise<Sample> => {
          const { results: executionIds } = await loadEach(Array.from({ length: runs }), SUBMITS_IN_PARALLEL, () => submit(api, slug));
          const endLoad = steadyLoad(LOAD_PER_SECOND, runInBackground);
          let sample: Sample;
          try {
            ({ sample } = await loadPaced(executionIds, CANCELS_PER_SECOND, (executionId) => cancelRun(api, executionId)));
          } finally {
            await endLoad();
          }
          await waitForAll(api, executionIds, "cancelled");
          return sample;
        };

        note(`${CANCELS_PER_SECOND} a second, beside ${LOAD_PER_SECOND} synchronous runs a second`);
        await round(SUBMITS_IN_PARALLEL);
        const samples: Sample[] = [];
        for (let number = 0; number < extent.rounds; number += 1) samples.push(await round(extent.runs));
        const figures = { ours: figuresOf(pooled(samples)) };
        return metricsOf("d", "cancel", figures, { p50: null, p99: { kind: "below", value: 100 } });
      }),
    ),
};
