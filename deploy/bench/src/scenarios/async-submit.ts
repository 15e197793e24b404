import { videoWorkflow } from "../graphs";
import { loadEach } from "../load";
import { metricsOf } from "../metrics";
import { figuresOf, pooled, type Sample } from "../rounds";
import { submit, waitForAll } from "../runs";
import { withWorkflow } from "../workflow";
import type { Bench, Scenario } from "./scenario";

const PARALLEL = 20;
const PROVIDER_LATENCY_MS = 50;

/** Time until a client has its execution id. The runs themselves are awaited outside the measurement. */
export const asyncSubmit: Scenario = {
  title: "submitting an asynchronous video run",
  measure: ({ api, extent, note }: Bench) =>
    withWorkflow(api, videoWorkflow("Bench video", PROVIDER_LATENCY_MS), async (slug) => {
      const round = async (runs: number): Promise<Sample> => {
        const { sample, results } = await loadEach(Array.from({ length: runs }), PARALLEL, () => submit(api, slug));
        await waitForAll(api, results, "completed");
        return sample;
      };
      note(`${PARALLEL} in parallel`);
      await round(PARALLEL);
      const samples: Sample[] = [];
      for (let number = 0; number < extent.rounds; number += 1) samples.push(await round(extent.runs));
      const figures = { ours: figuresOf(pooled(samples)) };
      return metricsOf("c", `async submit, ${PARALLEL} in parallel`, figures, { p50: null, p99: { kind: "below", value: 500 } });
    }),
};
