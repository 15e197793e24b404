import { TIMING } from "../../src/contract/timing";
import { createStandings, type Standing } from "../../src/record/standing";

const open = (stored: Standing) => {
  let reads = 0;
  let now = 0;
  const read = (): Promise<Standing> => {
    reads += 1;
    return Promise.resolve(stored);
  };
  const pass = (ms: number): void => void (now += ms);
  return { standings: createStandings(read, () => now), reads: () => reads, pass };
};
const CANCELLED: Standing = { isCancelled: true, baseTier: "pro" };

it("does not read a run again that this process claimed a moment ago", async () => {
  const { standings, reads } = open(CANCELLED);
  standings.claimed({ _id: "run", baseTier: "free" });
  expect(await standings.of("run")).toMatchObject({ isCancelled: false, baseTier: "free" });
  expect(reads()).toBe(0);
});

it("reads every other run, and one that was cancelled here since", async () => {
  const { standings, reads } = open(CANCELLED);
  expect(await standings.of("other")).toEqual(CANCELLED);
  standings.claimed({ _id: "run" });
  standings.changed("run");
  expect(await standings.of("run")).toEqual(CANCELLED);
  expect(reads()).toBe(2);
});

it("relies on a claim for no longer than a moment", async () => {
  const { standings, pass } = open(CANCELLED);
  standings.claimed({ _id: "run" });
  pass(TIMING.claimSeen + 1);
  expect(await standings.of("run")).toEqual(CANCELLED);
});
