import { performance } from "node:perf_hooks";
import { textWorkflow, videoWorkflow } from "../graphs";
import type { ApiClient } from "../http";
import { loadEach } from "../load";
import { metricsOf, type Target } from "../metrics";
import { figuresOf, type Figures } from "../rounds";
import { withWorkflow } from "../workflow";
import type { Bench, Scenario } from "./scenario";

const LISTED = 200;
const USAGE_ROWS = 50;
const AT_ONCE = 10;
const WARM_UP = 20;
/** Latency of a run that never starts; only its price is read. */
const LATENCY_MS = 1_000;

interface Subject {
  name: string;
  path: string;
  target: Target | null;
}

/** Creates workflows; every second one has a price. */
const createListed = async (api: ApiClient): Promise<string[]> => {
  const numbers = Array.from({ length: LISTED }, (_, number) => number);
  const { results } = await loadEach(numbers, AT_ONCE, (number) => {
    const body = number % 2 === 0 ? textWorkflow() : videoWorkflow(`Bench listed ${number}`, LATENCY_MS);
    return api.expect<{ slug: string }>(201, "POST", "/api/workflows", body);
  });
  return results.map(({ slug }) => slug);
};

const timed = async (api: ApiClient, path: string): Promise<number> => {
  const at = performance.now();
  const { status, text } = await api.call("GET", path);
  if (status !== 200) throw new Error(`GET ${path} was answered ${status}: ${text}`);
  return performance.now() - at;
};

/** Requests the paths in turn, so that disturbances of the machine affect all paths alike. */
const inTurn = async (api: ApiClient, paths: readonly string[], times: number): Promise<Figures[]> => {
  const latencies = paths.map((): number[] => []);
  for (let time = 0; time < times; time += 1) {
    for (const [index, path] of paths.entries()) latencies[index]!.push(await timed(api, path));
  }
  return latencies.map((latenciesMs) => figuresOf({ latenciesMs, seconds: latenciesMs.reduce((sum, ms) => sum + ms, 0) / 1_000 }));
};

/** Cost of reads as multiples of the simplest read that needs a service and its database. */
export const reads: Scenario = {
  title: "lists, schemas and usage, against GET /api/workflows/:slug",
  measure: ({ api, extent, note }: Bench) =>
    withWorkflow(api, { ...textWorkflow(), publicPlayground: true }, async (slug) => {
      const listed = await createListed(api);
      try {
        const runs = Array.from({ length: USAGE_ROWS });
        await loadEach(runs, AT_ONCE, () => api.expect(200, "POST", `/api/workflows/${slug}/run`, { inputs: {} }));
        const path = `/api/workflows/${slug}`;
        const subjects: Subject[] = [
          { name: `list of ${LISTED} workflows`, path: "/api/workflows", target: { kind: "ratio at most", value: 3 } },
          { name: "schema", path: `${path}/schema`, target: null },
          { name: "public schema", path: `${path}/public-schema`, target: null },
          { name: `${USAGE_ROWS} rows of usage`, path: `/api/usage?limit=${USAGE_ROWS}`, target: null },
        ];
        const paths = [path, ...subjects.map((subject) => subject.path)];
        note(`one after the other, ${extent.runs} of each`);
        await inTurn(api, paths, WARM_UP);
        const [single, ...others] = await inTurn(api, paths, extent.runs);
        return subjects.flatMap(({ name, target }, index) =>
          metricsOf("e", name, { ours: others[index]!, bare: single! }, { p50: target }),
        );
      } finally {
        await loadEach(listed, AT_ONCE, (one) => api.call("DELETE", `/api/workflows/${one}`));
      }
    }),
};
