import { randomUUID } from "node:crypto";
import { createLook } from "@nodeloom/platform";
import type { identity } from "@nodeloom/proto";
import { createStarter } from "../../src/temporal/client";
import { TIMING } from "../../src/timing";
import { createDeliveries, type DeliveryInput, type DeliveryStarter } from "../../src/webhooks/deliveries";
import { NEW_STANDING, type NewDelivery, type AttemptResult, type Standing } from "../../src/delivery";
import { logger, openStores, startWorker, type Stores } from "../support/index";

let stores: Stores;
let stop: () => Promise<void>;
beforeEach(async () => void ({ stores, stop } = await openStores()));
afterEach(() => stop());

const newMessage = (part: Partial<NewDelivery> = {}): NewDelivery => {
  const executionId = randomUUID();
  return { _id: executionId, ownerId: "u", keyId: "k", event: "execution.completed", about: { kind: "run", executionId }, ...part };
};

const TARGET = { url: "https://example.com/hook", events: [], disabled: false, secrets: [], revision: "r" };

interface Setup {
  starter?: DeliveryStarter;
  target?: Partial<identity.GetWebhookTargetResponse>;
  clock?: () => number;
}
const deliveriesBy = ({ starter, target, clock }: Setup = {}) => {
  const started: DeliveryInput[] = [];
  const keep: DeliveryStarter = { startDelivery: (input) => Promise.resolve(void started.push(input)) };
  const getWebhookTarget = (): Promise<identity.GetWebhookTargetResponse> =>
    Promise.resolve({ ...TARGET, ...target } as identity.GetWebhookTargetResponse);
  const parts = { store: stores.deliveries, identity: { getWebhookTarget }, starter: starter ?? keep, logger };
  return { started, ...createDeliveries({ ...parts, ...(clock ? { clock } : {}) }) };
};

it("starts a message once, however often it is handed over", async () => {
  const { add, started } = deliveriesBy();
  const message = newMessage();
  await Promise.all(Array.from({ length: 20 }, () => add(message)));
  expect(started).toEqual([{ id: message._id, delivery: 1, attempt: 1, pauseMs: 0 }]);
});

it("continues a delivery of 1.0.0 at its state, and starts none that had ended", async () => {
  const now = Date.now();
  const { add, started } = deliveriesBy({ clock: () => now });
  const entry = { at: new Date(0), status: 500, error: "the receiver answered 500", durationMs: 1, url: TARGET.url };
  const history = [1, 2, 3].map((attempt) => ({ ...entry, key: `2:${attempt}`, delivery: 2, attempt }));
  const earlier: Standing = { ...NEW_STANDING, delivery: 2, attempts: 11, history, nextAttemptAt: new Date(now + 60_000) };
  const [pending, over] = [newMessage({ earlier }), newMessage({ earlier: { ...earlier, state: "failed", nextAttemptAt: null } })];
  await add(pending);
  await add(over);
  expect(started).toEqual([{ id: pending._id, delivery: 2, attempt: 4, pauseMs: 60_000 }]);
  expect(await stores.deliveries.find(over._id)).toMatchObject({ state: "failed", attempts: 11, history });
});

it("starts a message later that Temporal rejected, and loses none", async () => {
  let isDown = true;
  const started: DeliveryInput[] = [];
  const starter: DeliveryStarter = {
    startDelivery: (input) => (isDown ? Promise.reject(new Error("away")) : Promise.resolve(void started.push(input))),
  };
  const { add, unstarted } = deliveriesBy({ starter });
  await add(newMessage());
  isDown = false;
  const look = createLook({ ...unstarted, staleMs: 0 }, { logger });
  await look();
  await look();
  await look();
  expect(started).toHaveLength(1);
});

it("starts with the first attempt at once, not after a pause", async () => {
  const { add, started } = deliveriesBy();
  await add(newMessage());
  expect(started[0]).toMatchObject({ attempt: 1, pauseMs: 0 });
});

describe("an overdue delivery", () => {
  const LATE = TIMING.lateDelivery + 60_000;
  /** A message that was accepted and started this long ago. Its next attempt was due a minute later. */
  const startedEarlier = async (part: Partial<Standing> = {}): Promise<string> => {
    const then = Date.now() - LATE - 60_000;
    const message = newMessage({ earlier: { ...NEW_STANDING, nextAttemptAt: new Date(then + 60_000), ...part } });
    await stores.deliveries.insert(message, new Date(then));
    await stores.deliveries.noteStarted(message._id, 1, new Date(then));
    return message._id;
  };
  const due = async (): Promise<string[]> =>
    (await stores.deliveries.listUnstarted(new Date(Date.now() - TIMING.lateDelivery), 10, undefined)).map(({ _id }) => _id);

  it("is delivered again if it has no workflow, once, and left alone if it has one", async () => {
    const taskQueue = `deliveries-${randomUUID().slice(0, 8)}`;
    const sends: string[] = [];
    const worker = await startWorker(taskQueue, {
      sendWebhook: ({ id }: { id: string }): AttemptResult => {
        sends.push(id);
        return { nothing: "skipped" };
      },
      recordAttempt: () => ({ pauseMs: 3_600_000 }),
    });
    const starter = createStarter({ client: worker.client, taskQueue });
    const { unstarted } = deliveriesBy({ starter });
    const id = await startedEarlier();
    const rows = await stores.deliveries.listUnstarted(new Date(Date.now() - TIMING.lateDelivery), 10, undefined);
    const handle = worker.client.workflow.getHandle(`delivery-${id}-1`);
    const runs = async (): Promise<string> => (await handle.describe()).runId;
    await unstarted.settle(rows);
    const first = await runs();
    expect(await due()).toEqual([]);
    await unstarted.settle(rows);
    expect(await runs()).toBe(first);
    await handle.terminate("by mistake");
    await unstarted.settle(rows);
    expect(await runs()).not.toBe(first);
    await handle.terminate();
    await worker.stop();
    expect(sends.length).toBeLessThanOrEqual(2);
  });

  it("isn't one that is due later, has ended, or started a moment ago", async () => {
    const late = await startedEarlier();
    await startedEarlier({ nextAttemptAt: new Date(Date.now() + 3_600_000) });
    for (const state of ["delivered", "failed", "disabled", "skipped"] as const) await startedEarlier({ state });
    const now = await startedEarlier();
    await stores.deliveries.noteStarted(now, 1, new Date());
    expect(await due()).toEqual([late]);
  });

  it("is found page by page", async () => {
    const ids = await Promise.all(Array.from({ length: 5 }, () => startedEarlier()));
    const pageIds: string[] = [];
    for (let after: Parameters<Stores["deliveries"]["listUnstarted"]>[2]; ;) {
      const page = await stores.deliveries.listUnstarted(new Date(), 2, after);
      if (page.length === 0) break;
      pageIds.push(...page.map(({ _id }) => _id));
      after = page.at(-1);
    }
    expect(pageIds).toEqual([...ids].sort());
  });
});

describe("a redelivery", () => {
  it("happens once, however often it is requested before its first attempt", async () => {
    const { add, again, started } = deliveriesBy();
    const message = newMessage();
    await add(message);
    const repeats = await Promise.all([again(message), again(message)]);
    expect(repeats.map(({ delivery, state }) => [delivery, state])).toEqual([
      [2, "pending"],
      [2, "pending"],
    ]);
    expect((await again(message)).delivery).toBe(2);
    expect(new Set(started.map(({ delivery }) => delivery))).toEqual(new Set([1, 2]));
  });

  it("of a message that wasn't handed over yet hands it over first", async () => {
    const { again, started } = deliveriesBy();
    const message = newMessage();
    expect((await again(message)).delivery).toBe(2);
    expect(started).toEqual([{ id: message._id, delivery: 2, attempt: 1, pauseMs: 0 }]);
  });

  it.each<[string, Partial<identity.GetWebhookTargetResponse>, RegExp]>([
    ["is disabled", { disabled: true }, /is disabled; set it again/],
    ["is gone", { url: "" }, /has no webhook any more/],
    ["is for other events", { events: ["execution.failed"] }, /is not for execution\.completed/],
  ])("is rejected if the key's webhook %s", async (_, target, message) => {
    const { again } = deliveriesBy({ target });
    await expect(again(newMessage())).rejects.toMatchObject({
      reason: "PRECONDITION_FAILED",
      message: expect.stringMatching(message) as string,
    });
  });
});
