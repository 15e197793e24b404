import type { notifications as proto } from "@nodeloom/proto";
import { newWebhookState } from "../../src/run/delivery";
import type { ExecutionRecord, ExecutionView } from "../../src/run/record";
import { createHandOver } from "../../src/webhooks/hand-over";
import { newRecord } from "../support/index";

const ALL = ["execution.completed", "execution.waiting", "execution.sync.completed"];
const webhook = newWebhookState({ url: "https://example.com/hook", events: ["execution.completed"] });

const finished = (part: Partial<ExecutionRecord>): ExecutionView =>
  newRecord("owner", { ...{ status: "completed", mode: "async", keyId: "key", finishedAt: new Date(), webhook: null }, ...part });

/** Receivers of messages about a run, each with its event. */
const sentFor = async (announce: (webhooks: ReturnType<typeof createHandOver>) => Promise<void>): Promise<string[]> => {
  const requests: proto.SendRequest[] = [];
  const send = (request: proto.SendRequest) => Promise.resolve({}).then(() => void requests.push(request));
  await announce(createHandOver({ notifications: { send } as never, stores: {} as never }));
  return requests.map(({ message }) => {
    if (message?.$case !== "webhook") return "no webhook";
    const { toEndpoints, event, url, keyId } = message.value;
    return toEndpoints ? `endpoints ${event} ${url}${keyId}` : `webhook ${event}`;
  });
};
const ends = (part: Partial<ExecutionRecord>): Promise<string[]> => sentFor((webhooks) => webhooks.end(finished(part)));

it("sends the end of a run to its webhook and to the endpoints that were subscribed when it was accepted", async () => {
  expect(await ends({ webhook, endpointEvents: ALL })).toEqual(["webhook execution.completed", "endpoints execution.completed "]);
  expect(await ends({ endpointEvents: ALL, keyId: null })).toEqual(["endpoints execution.completed "]);
  expect(await ends({ endpointEvents: ["execution.failed"] })).toEqual([]);
  expect(await ends({ webhook })).toEqual(["webhook execution.completed"]);
});

it("sends the end of a run whose response had it only as execution.sync.completed", async () => {
  expect(await ends({ mode: "sync", webhook, endpointEvents: ALL })).toEqual(["endpoints execution.sync.completed "]);
  expect(await ends({ mode: "sync", webhook, endpointEvents: ["execution.completed"] })).toEqual([]);
  expect(await ends({ mode: "sync", answered: "accepted", endpointEvents: ALL })).toEqual(["endpoints execution.completed "]);
});

it("notifies endpoints of a waiting node, whether the run has a webhook or not", async () => {
  const waits = (part: Partial<ExecutionRecord>) => sentFor((webhooks) => webhooks.waiting(finished(part), "review"));
  expect(await waits({ endpointEvents: ALL })).toEqual(["endpoints execution.waiting "]);
  expect(await waits({ webhook, endpointEvents: ALL })).toEqual(["webhook execution.waiting", "endpoints execution.waiting "]);
});
