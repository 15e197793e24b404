import { createLogger } from "@nodeloom/platform";
import { createSweeps } from "../../src/upkeep/sweeps";

it("looks for batches and alerts when runs can't be looked through", async () => {
  const looked: string[] = [];
  const down = (): Promise<never> => Promise.reject(new Error("the runs can't be read"));
  const sweep = createSweeps({
    stores: {
      rows: { unsettled: down },
      batches: { unseenSince: () => (looked.push("batches"), Promise.resolve([])) },
    },
    billing: { listBudgetAlerts: () => (looked.push("alerts"), Promise.resolve({ users: [], nextCursor: "" })) },
    logger: createLogger("test", "silent"),
  } as unknown as Parameters<typeof createSweeps>[0]);
  await expect(sweep()).rejects.toThrow("the runs can't be read");
  expect(looked).toEqual(["batches", "alerts"]);
});
