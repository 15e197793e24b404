import { videoWorkflow } from "../graphs";
import { createApiClient, type ApiClient } from "../http";
import { loadEach } from "../load";
import { metricsOf } from "../metrics";
import { keyOf } from "../platform";
import { figuresOf, pooled, type Sample } from "../rounds";
import { submit, waitForAll } from "../runs";
import { withWorkflow } from "../workflow";
import type { Bench, Scenario } from "./scenario";

/** Concurrent runs of one user: the limit of an enterprise account. */
const QUEUED = 200;
const PROVIDER_LATENCY_MS = 1_000;
const IDLE_RUNS = 5;

/** Time of a synchronous video run while another user's many runs are queued, relative to an idle platform. */
export const fairness: Scenario = {
  title: "one user's first run while another has 200 queued",
  measure: async ({ api, local, extent, signal, note }: Bench) => {
    const other = createApiClient(local.baseUrl, keyOf(local, "business"), signal);
    try {
      return await withBoth(api, other, async (slug, otherSlug) => {
        const first = () => other.expect(200, "POST", `/api/workflows/${otherSlug}/run`, { inputs: {} });
        const one = async (): Promise<Sample> => (await loadEach([0], 1, first)).sample;
        const idle: Sample[] = [];
        for (let run = 0; run < IDLE_RUNS; run += 1) idle.push(await one());
        note(`${QUEUED} asynchronous runs at once, then the other user's`);
        const busy: Sample[] = [];
        for (let round = 0; round < extent.rounds; round += 1) {
          const queued = Array.from({ length: QUEUED }, () => submit(api, slug));
          busy.push(await Promise.race(queued).then(one));
          await waitForAll(api, await Promise.all(queued), "completed");
        }
        const figures = { ours: figuresOf(pooled(busy)), bare: figuresOf(pooled(idle)) };
        return metricsOf("f", "first run of another user, against idle", figures, { p50: { kind: "ratio at most", value: 2 } });
      });
    } finally {
      other.close();
    }
  },
};

const withBoth = <T>(api: ApiClient, other: ApiClient, work: (slug: string, otherSlug: string) => Promise<T>): Promise<T> =>
  withWorkflow(api, videoWorkflow("Bench queued", PROVIDER_LATENCY_MS), (slug) =>
    withWorkflow(other, videoWorkflow("Bench first", PROVIDER_LATENCY_MS), (otherSlug) => work(slug, otherSlug)),
  );
