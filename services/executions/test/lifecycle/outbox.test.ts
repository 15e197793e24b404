import { createLogger } from "@nodeloom/platform";
import { createDebts, type DebtsOptions } from "../../src/lifecycle/outbox";
import type { ExecutionView } from "../../src/run/record";
import { newRecord } from "../support/index";

/** When usage hears of runs. Times are in milliseconds. */

beforeEach(() => jest.useFakeTimers({ now: 0 }));
afterEach(() => jest.useRealTimers());

const debtsOf = () => {
  const said: string[] = [];
  const toldRuns = {
    begun: ({ executionId }: { executionId: string }) => Promise.resolve(void said.push(`begun ${executionId}`)),
    over: ({ run }: { run?: { executionId: string } | undefined }) => Promise.resolve(void said.push(`over ${run!.executionId}`)),
  };
  const stores = { strike: () => Promise.resolve() };
  const debts = createDebts({ toldRuns, stores, logger: createLogger("test", "silent") } as unknown as DebtsOptions);
  return { debts, said };
};
const claimed = (id: string, mode: "sync" | "async"): ExecutionView =>
  newRecord("user", { _id: id, mode, status: "processing", attempt: 1, due: ["usage"] });

it("tells of runs that are claimed within a tenth of a second at once, and within that time", async () => {
  const { debts, said } = debtsOf();
  debts.claimed(claimed("a", "async"));
  await jest.advanceTimersByTimeAsync(60);
  debts.claimed(claimed("b", "async"));
  await jest.advanceTimersByTimeAsync(39);
  expect(said).toEqual([]);
  await jest.advanceTimersByTimeAsync(1);
  expect(said).toEqual(["begun a", "begun b"]);
});

it("tells of a run whose caller waits once it has lasted for a second", async () => {
  const { debts, said } = debtsOf();
  debts.claimed(claimed("a", "sync"));
  await jest.advanceTimersByTimeAsync(900);
  expect(said).toEqual([]);
  await jest.advanceTimersByTimeAsync(100);
  expect(said).toEqual(["begun a"]);
});

it("does not tell that a run begins which is over by then", async () => {
  const { debts, said } = debtsOf();
  debts.claimed(claimed("a", "async"));
  debts.claimed(claimed("a", "async"));
  debts.ending("a");
  await debts.payNow({ ...claimed("a", "async"), status: "completed" });
  await jest.advanceTimersByTimeAsync(5_000);
  expect(said).toEqual(["over a"]);
});

it("tells before a stop of the runs that it has not told of", async () => {
  const { debts, said } = debtsOf();
  debts.claimed(claimed("a", "sync"));
  await debts.drain();
  expect(said).toEqual(["begun a"]);
});
