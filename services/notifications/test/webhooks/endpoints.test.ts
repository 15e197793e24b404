import { randomUUID } from "node:crypto";
import type { TakeOutgoing } from "@nodeloom/platform";
import type { identity } from "@nodeloom/proto";
import { createDeliveries, type DeliveryInput } from "../../src/webhooks/deliveries";
import { createEndpoints, type EndpointMessage } from "../../src/webhooks/endpoints";
import { logger, openStores, type Stores } from "../support/index";

let stores: Stores;
let stop: () => Promise<void>;
beforeEach(async () => void ({ stores, stop } = await openStores()));
afterEach(() => stop());

const COMPLETED = "execution.completed";
const endpoint = (part: Partial<identity.WebhookEndpoint> = {}): identity.WebhookEndpoint => ({
  ...{ id: randomUUID(), url: "https://example.com/hook", events: [COMPLETED], description: "", disabledReason: "" },
  ...{ disabledAt: undefined, createdAt: new Date(), updatedAt: new Date(), ...part },
});
const newMessage = (part: Partial<EndpointMessage> = {}): EndpointMessage => {
  const executionId = randomUUID();
  return { _id: executionId, ownerId: "u", event: COMPLETED, about: { kind: "run", executionId }, ...part };
};

const unlimited: TakeOutgoing = () => Promise.resolve(null);

const endpointsOf = (endpoints: identity.WebhookEndpoint[], outgoing = unlimited) => {
  const started: DeliveryInput[] = [];
  const target = { url: "https://example.com/hook", events: [COMPLETED], disabled: false, secrets: [], revision: "r" };
  const service = { listWebhookEndpoints: () => Promise.resolve({ endpoints }), getWebhookTarget: () => Promise.resolve(target) };
  const starter = { startDelivery: (input: DeliveryInput) => Promise.resolve(void started.push(input)) };
  const deliveries = createDeliveries({ store: stores.deliveries, identity: service, starter, logger });
  return { started, ...createEndpoints({ identity: service, deliveries, store: stores.deliveries, outgoing }) };
};
const listOf = (of: Pick<ReturnType<typeof endpointsOf>, "list">, endpointId: string, page: { limit?: number; cursor?: string } = {}) =>
  of.list({ ownerId: "u", endpointId, limit: 0, cursor: "", ...page });

it("sends a message once to each enabled endpoint that subscribes to it, however often it is handed over", async () => {
  const [first, second] = [endpoint(), endpoint()];
  const all = endpointsOf([first, second, endpoint({ events: ["budget.alert"] }), endpoint({ disabledAt: new Date() })]);
  const message = newMessage();
  await Promise.all(Array.from({ length: 5 }, () => all.add(message)));
  expect(all.started).toHaveLength(2);
  for (const { id } of [first, second])
    expect((await listOf(all, id)).deliveries).toMatchObject([{ endpointId: id, keyId: "", event: COMPLETED, state: "pending" }]);
});

it("distinguishes the wait of a node from the end of its run, whatever the node's id is", async () => {
  const one = endpoint({ events: [COMPLETED, "execution.waiting"] });
  const all = endpointsOf([one]);
  const [executionId, nodeId] = [randomUUID(), "a node / with spaces"];
  await all.add(newMessage({ _id: executionId, about: { kind: "run", executionId } }));
  const about = { kind: "run" as const, executionId, nodeId };
  await all.add(newMessage({ _id: `${executionId}.waiting.${nodeId}`, event: "execution.waiting", about }));
  const { deliveries } = await listOf(all, one.id);
  expect(deliveries).toHaveLength(2);
  // The list continues with these ids.
  const { nextCursor } = await listOf(all, one.id, { limit: 1 });
  expect((await listOf(all, one.id, { limit: 1, cursor: nextCursor })).deliveries).toMatchObject([{ _id: deliveries[1]!._id }]);
});

it("removes an erased run's messages to endpoints", async () => {
  const one = endpoint();
  const all = endpointsOf([one]);
  const [erased, keptMessage] = [newMessage(), newMessage()];
  await all.add(erased);
  await all.add(keptMessage);
  await stores.deliveries.removeRun("u", erased._id);
  expect((await listOf(all, one.id)).deliveries).toMatchObject([{ about: keptMessage.about }]);
});

it("sends a message again only to its own endpoint and owner", async () => {
  const one = endpoint();
  const all = endpointsOf([one]);
  await all.add(newMessage());
  const [{ _id: id } = { _id: "" }] = (await listOf(all, one.id)).deliveries;
  const missing = { reason: "NOT_FOUND" };
  await expect(all.again({ ownerId: "other", endpointId: one.id, id })).rejects.toMatchObject(missing);
  await expect(all.again({ ownerId: "u", endpointId: randomUUID(), id })).rejects.toMatchObject(missing);
  await expect(all.again({ ownerId: "u", endpointId: one.id, id: "none" })).rejects.toMatchObject(missing);
  expect(await all.again({ ownerId: "u", endpointId: one.id, id })).toMatchObject({ delivery: 2, state: "pending" });
  expect(all.started.map(({ delivery }) => delivery)).toEqual([1, 2]);
});

it("sends tests to enabled endpoints of the owner, whatever their events are, as often as the limit allows", async () => {
  const [one, off] = [endpoint({ events: ["budget.alert"] }), endpoint({ disabledAt: new Date() })];
  const all = endpointsOf([one, off]);
  const record = await all.test({ ownerId: "u", endpointId: one.id });
  expect(record).toMatchObject({ event: "webhook.test", endpointId: one.id, state: "pending", about: { kind: "body" } });
  expect(all.started).toMatchObject([{ id: record._id, attempt: 1 }]);
  await expect(all.test({ ownerId: "u", endpointId: off.id })).rejects.toMatchObject({ reason: "PRECONDITION_FAILED" });
  await expect(all.test({ ownerId: "u", endpointId: randomUUID() })).rejects.toMatchObject({ reason: "NOT_FOUND" });
  const over = endpointsOf([one], () => Promise.resolve({ name: "webhook tests", limit: 10, afterMs: 1_000, pauseMs: 1_000 }));
  await expect(over.test({ ownerId: "u", endpointId: one.id })).rejects.toMatchObject({ reason: "RATE_LIMIT_EXCEEDED" });
  expect(over.started).toEqual([]);
});
