import { unavailable } from "@nodeloom/kernel";
import { createHandOver } from "../../src/webhooks/hand-over";
import { executionMessage } from "../../src/reads/view";
import { newWebhookState } from "../../src/run/delivery";
import type { ExecutionView } from "../../src/run/record";
import { newRecord } from "../support/index";

const URL_OF_RUN = "https://example.com/hook";

const finished = (): ExecutionView =>
  newRecord("owner", {
    ...{ status: "completed", mode: "async", keyId: "key", finishedAt: new Date() },
    webhook: newWebhookState({ url: URL_OF_RUN, events: [] }),
  });

it("reports a delivery's state as unknown while notifications doesn't respond, and as pending while it has no message yet", async () => {
  const stateOver = async (getDeliveries: () => Promise<object>) => {
    const webhooks = createHandOver({ notifications: { getDeliveries } as never, stores: {} as never });
    const [row] = await webhooks.runs([finished()]);
    return executionMessage(row!).webhookDelivery;
  };
  expect(await stateOver(() => Promise.reject(unavailable("notifications is not available")))).toMatchObject({
    ...{ configured: true, url: URL_OF_RUN, state: "unknown" },
  });
  expect(await stateOver(() => Promise.resolve({ deliveries: [] }))).toMatchObject({ configured: true, url: URL_OF_RUN, state: "pending" });
});
