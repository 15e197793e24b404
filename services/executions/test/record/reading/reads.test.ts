import { createReads } from "../../../src/record/reading/reads";
import type { ExecutionStore } from "../../../src/record/store";
import type { ExecutionView } from "../../../src/record/execution-record";
import { newRecord } from "../../support/index";

/** Reads one execution. @returns how often its calls were read */
const readsOfCalls = async (changes: Partial<ExecutionView>): Promise<number> => {
  let count = 0;
  const row = newRecord("user", changes);
  const store = {
    findOwned: () => Promise.resolve(row),
    current: () => Promise.resolve(row),
    callsOf: () => {
      count += 1;
      return Promise.resolve([]);
    },
  } as unknown as ExecutionStore;
  await createReads(store, { payForReader: () => Promise.resolve() }).get(row._id, "user");
  return count;
};
const [pic] = newRecord().nodes;
const done = { ...pic!, type: "generate-image", status: "completed" as const, items: 1, outputsJson: "{}" };

it("reads no calls of a run that is over and whose nodes tell what they gave", async () => {
  const text = { ...pic!, id: "text", type: "text-box", status: "completed" as const };
  const skipped = { ...pic!, id: "never", type: "generate-image", status: "skipped" as const };
  expect(await readsOfCalls({ status: "completed", nodes: [text, done, skipped] })).toBe(0);
});

it.each<[string, Partial<ExecutionView>]>([
  ["is under way", { status: "processing", nodes: [done] }],
  ["made several calls of a node", { status: "completed", nodes: [{ ...done, items: 2 }] }],
  ["has a node that does not tell what it gave", { status: "completed", nodes: [{ ...done, outputsJson: undefined }] }],
  ["has its nodes put away", { status: "completed", nodes: [], nodesHash: "h" }],
])("reads the calls of a run that %s", async (_, changes) => {
  expect(await readsOfCalls(changes)).toBe(1);
});
