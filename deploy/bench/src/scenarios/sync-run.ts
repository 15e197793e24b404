import { startChild } from "../child";
import { textWorkflow } from "../graphs";
import { loadFor } from "../load";
import { metricsOf, type Metric } from "../metrics";
import { alternate, figuresOf, medianFigures, type Figures } from "../rounds";
import type { TemporalAnswer, TemporalQuestion } from "../bare/temporal";
import { withWorkflow } from "../workflow";
import type { Bench, Scenario } from "./scenario";

const PARALLEL = [1, 10, 40] as const;

/** A complete run with its bookkeeping, relative to three bare steps on the same Temporal server. */
export const syncRun: Scenario = {
  title: "a synchronous run of request-input → text-box → response-output, against a bare Temporal workflow of three local activities",
  measure: async (bench: Bench) => {
    const { api, extent, local, note } = bench;
    const temporal = startChild<TemporalQuestion, TemporalAnswer>("bare/temporal");
    try {
      await temporal.ask({ address: local.temporalAddress });
      return await withWorkflow(api, textWorkflow(), async (slug) => {
        const run = () => api.expect(200, "POST", `/api/workflows/${slug}/run`, { inputs: { name: "bench" } });
        const sides = (parallel: number) => ({
          ours: async (durationMs: number): Promise<Figures> => figuresOf(await loadFor(durationMs, parallel, run)),
          bare: async (durationMs: number): Promise<Figures> => figuresOf(await temporal.ask({ parallel, durationMs })),
        });
        const metrics: Metric[] = [];
        for (const parallel of PARALLEL) {
          note(`${parallel} in parallel`);
          const { ours, bare } = sides(parallel);
          await ours(extent.warmUpMs);
          await bare(extent.warmUpMs);
          const rounds = await alternate(extent.rounds, { ours: () => ours(extent.roundMs), bare: () => bare(extent.roundMs) });
          const figures = { ours: medianFigures(rounds.ours), bare: medianFigures(rounds.bare) };
          const targets = {
            p50: { kind: "ratio at most", value: 2 },
            p95: null,
            "per second": { kind: "ratio at least", value: 0.5 },
          } as const;
          metrics.push(...metricsOf("b", `sync run, ${parallel} in parallel`, figures, targets));
        }
        return metrics;
      });
    } finally {
      await temporal.stop();
    }
  },
};
