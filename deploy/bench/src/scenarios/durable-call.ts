import { startChild } from "../child";
import { httpWorkflow } from "../graphs";
import { loadFor } from "../load";
import { metricsOf } from "../metrics";
import { alternate, figuresOf, medianFigures, type Figures } from "../rounds";
import type { TemporalAnswer, TemporalQuestion } from "../bare/temporal";
import { withWorkflow } from "../workflow";
import type { Bench, Scenario } from "./scenario";

const PARALLEL = 10;

/** Overhead of the platform on a durable HTTP call for accounts, records, events and usage. */
export const durableCall: Scenario = {
  title: "a run of one HTTP node, against a bare Temporal workflow that makes the same call",
  measure: async ({ api, extent, local, target, note }: Bench) => {
    const temporal = startChild<TemporalQuestion, TemporalAnswer>("bare/temporal");
    try {
      await temporal.ask({ address: local.temporalAddress });
      return await withWorkflow(api, httpWorkflow(target), async (slug) => {
        const run = () => api.expect(200, "POST", `/api/workflows/${slug}/run`, { inputs: {} });
        const ours = async (durationMs: number): Promise<Figures> => figuresOf(await loadFor(durationMs, PARALLEL, run));
        const bare = async (durationMs: number): Promise<Figures> =>
          figuresOf(await temporal.ask({ parallel: PARALLEL, durationMs, url: target }));
        note(`${PARALLEL} in parallel`);
        await ours(extent.warmUpMs);
        await bare(extent.warmUpMs);
        const rounds = await alternate(extent.rounds, { ours: () => ours(extent.roundMs), bare: () => bare(extent.roundMs) });
        const figures = { ours: medianFigures(rounds.ours), bare: medianFigures(rounds.bare) };
        return metricsOf("g", `HTTP run, ${PARALLEL} in parallel`, figures, {
          p50: { kind: "ratio at most", value: 1.3 },
          "per second": { kind: "ratio at least", value: 0.8 },
        });
      });
    } finally {
      await temporal.stop();
    }
  },
};
