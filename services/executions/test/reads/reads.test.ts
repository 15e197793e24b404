import { createReads } from "../../src/reads/reads";
import type { Stores } from "../../src/record/stores";
import type { ExecutionView } from "../../src/run/record";
import { DELIVERED, newRecord, openStore, readsOf } from "../support";

/** Reads one execution. @returns how often its calls were read */
const readsOfCalls = async (changes: Partial<ExecutionView>): Promise<number> => {
  let count = 0;
  const row = newRecord("user", changes);
  const stores = {
    rows: { findOwned: () => Promise.resolve(row) },
    log: { current: () => Promise.resolve(row) },
    calls: {
      of: () => {
        count += 1;
        return Promise.resolve([]);
      },
    },
  } as unknown as Stores;
  await createReads(stores, DELIVERED).get(row._id, "user");
  return count;
};
const [pic] = newRecord().nodes;
const doneNode = { ...pic!, type: "generate-image", status: "completed" as const, items: 1, outputsJson: "{}" };

it("reads no calls of an ended run whose nodes have their outputs", async () => {
  const text = { ...pic!, id: "text", type: "text-box", status: "completed" as const };
  const skipped = { ...pic!, id: "never", type: "generate-image", status: "skipped" as const };
  expect(await readsOfCalls({ status: "completed", nodes: [text, doneNode, skipped] })).toBe(0);
});

it.each<[string, Partial<ExecutionView>]>([
  ["is under way", { status: "processing", nodes: [doneNode] }],
  ["made several calls of a node", { status: "completed", nodes: [{ ...doneNode, items: 2 }] }],
  ["has a node that does not tell what it gave", { status: "completed", nodes: [{ ...doneNode, outputsJson: undefined }] }],
  ["has its nodes put away", { status: "completed", nodes: [], nodesHash: "h" }],
])("reads the calls of a run that %s", async (_, changes) => {
  expect(await readsOfCalls(changes)).toBe(1);
});

describe("of a fan-out whose calls were submitted", () => {
  let stores: Stores;
  let stop: () => Promise<void>;

  beforeAll(async () => {
    ({ stores, stop } = await openStore());
  });
  afterAll(() => stop());

  const NAME = "n".repeat(1_000);
  const submitted = (item: number) => {
    const data = { nodeId: pic!.id, item, items: 20, requestId: `${NAME}${item}` };
    return { key: `submitted:${pic!.id}:${item}`, type: "submitted", at: new Date(), data };
  };
  const namesOf = async (id: string): Promise<unknown[]> =>
    (await readsOf(stores).get(id, "user")).nodes[0]!.calls.map(({ item, status, requestId }) => [item, status, requestId]);

  /** A run with sent calls and more log entries than a row keeps. */
  const insertedRun = async (): Promise<string> => {
    const { _id } = newRecord("user");
    await stores.rows.insert(newRecord("user", { _id, nodes: [{ ...pic!, items: 20 }] }));
    await stores.log.append(
      _id,
      Array.from({ length: 19 }, (_, item) => submitted(item)),
    );
    await stores.log.append(_id, [submitted(19)]);
    const ofNode = { executionId: _id, nodeId: pic!.id };
    await Promise.all([0, 19].map((item) => stores.calls.submitted({ ...ofNode, key: `${_id}:${pic!.id}:${item}`, item }, "send")));
    return _id;
  };

  it("shows the provider's id of every running call, like its events", async () => {
    expect(await namesOf(await insertedRun())).toEqual([
      [0, "submitted", `${NAME}0`],
      [19, "submitted", `${NAME}19`],
    ]);
  });

  it("shows a call as running even if the log doesn't have its node's start yet", async () => {
    const { _id } = newRecord("user");
    await stores.rows.insert(newRecord("user", { _id, nodes: [{ ...pic!, items: 20 }] }));
    await stores.calls.submitted({ executionId: _id, nodeId: pic!.id, key: `${_id}:${pic!.id}:3`, item: 3 }, "send");
    expect(await namesOf(_id)).toEqual([[3, "submitted", undefined]]);
  });

  it("shows the provider's id of every cancelled or failed call", async () => {
    const id = await insertedRun();
    const failed = { _id: `${id}:${pic!.id}:0`, executionId: id, nodeId: pic!.id, item: 0, costMicroUsd: 0, requestId: null };
    await stores.calls.recordEnd({ ...failed, status: "failed" });
    const nodes = [{ ...pic!, status: "cancelled" as const, items: 20 }];
    const end = { resultJson: null, error: null, millicredits: 0, grantUsed: false, finishedAt: new Date(), durationMs: 1 };
    await stores.rows.finish(id, { ...end, status: "failed", nodes }, []);
    expect(await namesOf(id)).toEqual([
      [0, "failed", `${NAME}0`],
      [19, "cancelled", `${NAME}19`],
    ]);
  });
});
