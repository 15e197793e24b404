import type { BatchRecord } from "../../src/run/batch";
import { createRelayedBatches } from "../../src/upkeep/batches";
import { openStore } from "../support/index";
import { createLooks } from "../../../../test-support/looks";

it("runs a batch until no work is left, and drops one whose creation was lost", async () => {
  const { stores, stop } = await openStore();
  const insert = (_id: string, part: Partial<BatchRecord>) =>
    stores.batches.insert({ _id, userId: "user", createdAt: new Date(), isCarried: true, ...part } as BatchRecord);
  await insert("running", { status: "running" });
  await insert("lost", { status: "preparing", createdAt: new Date(Date.now() - 700_000) });
  await insert("being made", { status: "preparing" });
  await stores.batches.insert({ _id: "paused", userId: "user", status: "paused", createdAt: new Date(0) } as BatchRecord);
  const started: string[] = [];
  const starter = { startBatch: async (id: string) => void started.push(id) };
  const looks = createLooks(createRelayedBatches({ stores, starter }));
  await looks();
  expect(started).toEqual(["running"]);
  expect(await stores.batches.find("lost")).toBeNull();
  expect(await stores.batches.find("being made")).not.toBeNull();
  await looks();
  expect(started).toEqual(["running", "running", "running"]);
  await stores.batches.pause("running", { code: "BUDGET_EXCEEDED", message: "" });
  await looks();
  expect(started).toHaveLength(3);
  await stop();
});
