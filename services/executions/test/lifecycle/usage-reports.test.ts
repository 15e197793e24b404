import { DomainError, unavailable } from "@nodeloom/kernel";
import { usage as proto } from "@nodeloom/proto";
import { createUsageReports } from "../../src/lifecycle/usage-reports";

const runOf = (executionId: string): proto.FinishRunRequest => proto.FinishRunRequest.fromPartial({ run: { executionId } });
const idOf = ({ run }: proto.FinishRunRequest): string => run!.executionId;

/** A usage service that answers its first call on the test's command. */
const usageOf = (finishes: (ids: string[]) => Promise<string[]> = (ids) => Promise.resolve(ids)) => {
  const reports: string[][] = [];
  let letGo: () => void = () => undefined;
  const first = new Promise<void>((resolve) => (letGo = resolve));
  const never = (): Promise<never> => Promise.reject(new Error("nothing begins"));
  const usage = {
    startRun: never,
    startRuns: never,
    finishRun: async (request: proto.FinishRunRequest) => {
      reports.push([idOf(request)]);
      if (reports.length === 1) await first;
      if (idOf(request) === "theirs") throw new DomainError("conflict", "ALREADY_EXISTS", "this execution belongs to another user");
      return {};
    },
    finishRuns: async ({ runs }: proto.FinishRunsRequest) => {
      reports.push(runs.map(idOf));
      return { executionIds: await finishes(runs.map(idOf)) };
    },
  };
  return { reports, letGo, toldRuns: createUsageReports(usage) };
};

/** Reports one run, and three more during that call. @returns the outcome of each */
const fourOf = async ({ reports, letGo, toldRuns }: ReturnType<typeof usageOf>, ids = ["b", "c", "d"]) => {
  const outcomes = [toldRuns.finished(runOf("a"))];
  while (reports.length === 0) await Promise.resolve();
  outcomes.push(...ids.map((id) => toldRuns.finished(runOf(id))));
  letGo();
  return (await Promise.allSettled(outcomes)).map((outcome) => (outcome.status === "fulfilled" ? "told" : String(outcome.reason)));
};

it("reports a single run alone, and those that end meanwhile in the next call", async () => {
  const usage = usageOf();
  expect(await fourOf(usage)).toEqual(["told", "told", "told", "told"]);
  expect(usage.reports).toEqual([["a"], ["b", "c", "d"]]);
});

it("asks for the reason of those that didn't finish with the others", async () => {
  const usage = usageOf((ids) => Promise.resolve(ids.filter((id) => id !== "theirs")));
  const outcomes = await fourOf(usage, ["b", "theirs", "d"]);
  expect(outcomes).toEqual(["told", "told", expect.stringContaining("belongs to another user"), "told"]);
  expect(usage.reports).toEqual([["a"], ["b", "theirs", "d"], ["theirs"]]);
});

it("reports each alone to a version of usage without the batch call", async () => {
  const usage = usageOf(() => Promise.reject(new DomainError("internal", "INTERNAL", "unimplemented")));
  expect(await fourOf(usage)).toEqual(["told", "told", "told", "told"]);
  expect(usage.reports).toEqual([["a"], ["b", "c", "d"], ["b"], ["c"], ["d"]]);
});

it("reports all of them as failed if usage is unavailable, and makes no more calls", async () => {
  const usage = usageOf(() => Promise.reject(unavailable("usage is not available")));
  expect((await fourOf(usage)).map((outcome) => outcome.includes("not available"))).toEqual([false, true, true, true]);
  expect(usage.reports).toEqual([["a"], ["b", "c", "d"]]);
});

it("reports runs that start together in one call", async () => {
  const startedIds: string[][] = [];
  const note = (runs: readonly { executionId: string }[]): string[] => {
    const ids = runs.map(({ executionId }) => executionId);
    startedIds.push(ids);
    return ids;
  };
  const never = (): Promise<never> => Promise.reject(new Error("nothing is over"));
  const usageReports = createUsageReports({
    startRun: ({ run }) => Promise.resolve({ id: note([run!]).length }),
    startRuns: ({ runs }) => Promise.resolve({ executionIds: note(runs) }),
    ...{ finishRun: never, finishRuns: never },
  });
  const starts = ["a", "b", "c"].map((executionId) => usageReports.started(proto.RunStart.fromPartial({ executionId })));
  await Promise.all(starts);
  expect(startedIds).toEqual([["a", "b", "c"]]);
});
