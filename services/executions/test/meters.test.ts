import { metrics } from "@opentelemetry/api";
import { AggregationTemporality, InMemoryMetricExporter, MeterProvider, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
import { DomainError } from "@nodeloom/kernel";
import { BindError } from "@nodeloom/kernel/graph";
import { createLogger, createSlots } from "@nodeloom/platform";
import { deferred } from "../../../test-support/deferred";
import { countRefusal, countRun, notePollLag, watchLoad } from "../src/meters";
import { FAILURES_TO_OPEN } from "../src/calls/breaker";
import { createGates } from "../src/calls/gates";
import { createCallClock } from "../src/calls/clock";
import { afterFailure, inputFailed } from "../src/calls/failures";
import { ProviderError } from "@nodeloom/providers";
import type { NodeState, RunError } from "../src/run/types";
import { TIMING } from "../src/run/timing";
import { runErrorOf, type NodeCall } from "../src/workflow/step-failures";
import { runError } from "../src/workflow/workflows/calls/failures";

const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
const provider = new MeterProvider({ readers: [reader] });
beforeAll(() => metrics.setGlobalMeterProvider(provider));
afterAll(() => provider.shutdown());

/** Current values by attributes; counts and sums for histograms. */
const pointsOf = async (name: string): Promise<Record<string, unknown>> => {
  exporter.reset();
  await provider.forceFlush();
  const namedMetrics = exporter
    .getMetrics()
    .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics: all }) => all))
    .filter(({ descriptor }) => descriptor.name === name);
  const points = namedMetrics.flatMap(({ dataPoints }) => dataPoints as { attributes: object; value: unknown }[]);
  return Object.fromEntries(
    points.map(({ attributes, value }) => {
      const { count, sum } = value as { count?: number; sum?: number };
      return [Object.values(attributes).sort().join(" "), count === undefined ? value : [count, sum]];
    }),
  );
};
const node = (type: string, status: NodeState["status"], durationMs: number | null): NodeState =>
  ({ id: "an id", label: "a label", type, status, durationMs }) as NodeState;

it("runs are counted by outcome, with their durations and those of their nodes in seconds", async () => {
  const nodes = [node("generate-image", "completed", 2_000), node("text-box", "completed", 0), node("note", "skipped", null)];
  countRun({ status: "completed", error: null, nodes }, "workflow", 2_500);
  countRun({ status: "completed", error: null, nodes: [] }, "workflow", 500);
  countRun({ status: "failed", error: { code: "EXECUTION_FAILED", message: "secret" }, nodes: [] }, "model", 1_000);
  countRefusal({ reason: "INSUFFICIENT_CREDITS" });
  expect(await pointsOf("nodeloom.runs")).toEqual({
    "completed workflow": 2,
    "EXECUTION_FAILED failed model ours": 1,
    "INSUFFICIENT_CREDITS refused": 1,
  });
  expect(await pointsOf("nodeloom.run.duration")).toEqual({ "completed workflow": [2, 3], "failed model": [1, 1] });
  expect(await pointsOf("nodeloom.node.duration")).toEqual({ "completed generate-image": [1, 2], "completed text-box": [1, 0] });
});

it("counts a failure against providers or inputs only if that is known", async () => {
  const call = { nodeId: "n", label: "Fetch", item: 0, items: 1, model: "a-model" } as unknown as NodeCall & { model: string };
  const answered = (kind: ProviderError["kind"]): Error =>
    afterFailure(call as never, new ProviderError(kind, "no", 400), false, { triesUntil: () => 0 } as never);
  const storage = new DomainError("failed", "EXECUTION_FAILED", "its output could not be stored");
  const counted = async (error: RunError): Promise<string> => {
    const before = await pointsOf("nodeloom.runs");
    countRun({ status: "failed", error, nodes: [] }, "model", 1);
    const after = await pointsOf("nodeloom.runs");
    return Object.keys(after).find((labels) => after[labels] !== before[labels])!;
  };
  for (const kind of ["refused", "unreachable", "ambiguous", "incomplete"] as const)
    expect(await counted(runErrorOf(answered(kind) as DomainError, call))).toMatch(/ provider$/);
  expect(await counted(runErrorOf(storage, call))).toMatch(/ ours$/);
  expect(await counted(runErrorOf(inputFailed("the file was deleted"), call))).toMatch(/ input /);
  const bound = new BindError("seed: must be a number", "seed: must be a number");
  expect(await counted(runError(bound, { id: "n", label: "Fetch" } as NodeState, "async"))).toMatch(/ input /);
  expect(await counted({ code: "BUDGET_EXCEEDED", message: "no" })).toMatch(/ input /);
  expect(await counted({ code: "INTERNAL", message: "no" })).toMatch(/ ours$/);
});

it("late polls are measured", async () => {
  notePollLag(-3);
  notePollLag(1_500);
  expect(await pointsOf("nodeloom.poll.lag")).toEqual({ "": [2, 1.5] });
});

it("reports used places, waiting runs and paused providers at the time of the request", async () => {
  const pool = createSlots({ concurrency: 1, queueLimit: 5 });
  const gates = createGates(createLogger("test", "silent"));
  const bounded = gates(JSON.stringify({ baseUrl: "https://busy.test/v1", maxConcurrent: 3 }));
  const away = gates(JSON.stringify({ baseUrl: "https://away.test" }));
  const jobs = jest.fn(() => 7);
  const end = watchLoad({ pools: { downloads: pool }, providers: gates.states, jobs, areLimitsShared: () => false });

  const { promise: gate, resolve: release } = deferred();
  const working = [1, 2, 3].map(() => pool.use(() => gate, { maxWaitMs: 60_000 }));
  const calling = bounded.pass(() => gate, { clock: createCallClock() });
  const options = { clock: createCallClock() };
  const now = jest.spyOn(Date, "now");
  for (let failure = 0; failure <= FAILURES_TO_OPEN; failure += 1) {
    now.mockReturnValue(failure * TIMING.breakerOutage);
    await away.pass(() => Promise.reject(new ProviderError("unreachable", "no")), options).catch(() => undefined);
  }
  now.mockRestore();
  expect(await pointsOf("nodeloom.slots.in_use")).toEqual({ downloads: 1, "provider busy.test": 1 });
  expect(await pointsOf("nodeloom.slots.waiting")).toEqual({ downloads: 2, "provider busy.test": 0 });
  expect(await pointsOf("nodeloom.provider.breaker.open")).toEqual({ "away.test": 1, "busy.test": 0 });
  expect(await pointsOf("nodeloom.jobs.followed")).toEqual({ "": 7 });

  release();
  await Promise.all([...working, calling]);
  expect(await pointsOf("nodeloom.slots.in_use")).toEqual({ downloads: 0, "provider busy.test": 0 });
  end();
  jobs.mockClear();
  await pointsOf("nodeloom.jobs.followed");
  expect(jobs).not.toHaveBeenCalled();
});
