import { createEndpointStore } from "../src/keys/endpoint-store";
import { createEndpoints } from "../src/keys/endpoints";
import { createKey, newUser, refusal, useIdentity } from "./support";

const URL = "https://example.com/hook";
const SECRET = /^whsec_[A-Za-z0-9+/]{43}=$/;
const DAY_MS = 24 * 3_600_000;
const SINCE = Date.parse("2030-01-01T00:00:00.000Z");

const { client, deployment } = useIdentity();

const owner = async (): Promise<string> => (await newUser(client, { tier: "pro" })).id;
const create = (ownerId: string, events = ["execution.completed"], url = URL) =>
  client.createWebhookEndpoint({ ownerId, url, events, description: "Orders" });
const wantedBy = async (userId: string): Promise<string[]> => (await client.getUser({ userId })).user!.endpointEvents;
const targetOf = (ownerId: string, id: string) => client.getWebhookTarget({ keyId: "", endpoint: { ownerId, id } });
const records = () => deployment.database.collection<{ _id: string }>("webhook-endpoints");

describe("a webhook endpoint of an account", () => {
  it("is created with a secret that is shown once and stored encrypted", async () => {
    const ownerId = await owner();
    const { endpoint, secret } = await create(ownerId, ["execution.failed", "execution.completed", "execution.failed"]);
    expect(secret).toMatch(SECRET);
    expect(endpoint).toMatchObject({ url: URL, events: ["execution.completed", "execution.failed"], description: "Orders" });
    expect(JSON.stringify(await records().findOne({ _id: ownerId }))).not.toContain(secret.slice(6));
    expect((await client.listWebhookEndpoints({ ownerId })).endpoints).toEqual([endpoint]);
    expect(await targetOf(ownerId, endpoint!.id)).toMatchObject({ url: URL, secrets: [secret], disabled: false });
  });

  it("adds its events to the account only while it is enabled", async () => {
    const ownerId = await owner();
    expect(await wantedBy(ownerId)).toEqual([]);
    const { endpoint } = await create(ownerId, ["batch.completed"]);
    const other = await create(ownerId, ["execution.waiting"]);
    const of = { ownerId, id: endpoint!.id };
    expect(await wantedBy(ownerId)).toEqual(["execution.waiting", "batch.completed"]);
    await client.updateWebhookEndpoint({ endpoint: of, events: undefined, disabled: true });
    expect(await wantedBy(ownerId)).toEqual(["execution.waiting"]);
    expect(await targetOf(ownerId, of.id)).toMatchObject({ url: "", disabled: true });
    await client.updateWebhookEndpoint({ endpoint: of, events: { events: ["budget.alert"] }, disabled: false });
    await client.deleteWebhookEndpoint({ endpoint: { ownerId, id: other.endpoint!.id } });
    expect(await wantedBy(ownerId)).toEqual(["budget.alert"]);
    await client.deleteWebhookEndpoint({ endpoint: of });
    expect(await wantedBy(ownerId)).toEqual([]);
    expect(await targetOf(ownerId, of.id)).toMatchObject({ url: "", secrets: [], disabled: false });
  });

  it("adds its events to the account at the next list if the change was interrupted, and a list writes nothing otherwise", async () => {
    const ownerId = await owner();
    await create(ownerId, ["batch.completed"]);
    const users = deployment.database.collection<{ _id: string }>("users");
    await users.updateOne({ _id: ownerId }, { $set: { endpointEvents: [] }, $unset: { endpointRevision: "" } });
    await client.listWebhookEndpoints({ ownerId });
    expect(await users.findOne({ _id: ownerId })).toMatchObject({ endpointEvents: ["batch.completed"], endpointRevision: 1 });

    const store = createEndpointStore({ users: {}, organizations: {}, endpoints: {} } as never);
    const record = { _id: ownerId, revision: 1, endpoints: [] };
    const noteEvents = jest.fn();
    const settled = { ...store, find: () => Promise.resolve(record), isNoted: () => Promise.resolve(true), noteEvents };
    await createEndpoints({ store: settled } as never).list(ownerId);
    expect(noteEvents).not.toHaveBeenCalled();
  });

  it("is one of at most 20, even if more are added at once", async () => {
    const ownerId = await owner();
    const added = await Promise.allSettled(Array.from({ length: 23 }, () => create(ownerId)));
    expect(added.filter(({ status }) => status === "fulfilled")).toHaveLength(20);
    expect((await client.listWebhookEndpoints({ ownerId })).endpoints).toHaveLength(20);
    expect(await refusal(create(ownerId))).toMatchObject({ reason: "PRECONDITION_FAILED" });
  });

  it("can't be seen, changed, rotated or deleted by another account", async () => {
    const ownerId = await owner();
    const { endpoint } = await create(ownerId);
    const foreign = { endpoint: { ownerId: await owner(), id: endpoint!.id } };
    const missing = { reason: "NOT_FOUND" };
    expect(await refusal(client.updateWebhookEndpoint({ ...foreign, events: undefined, disabled: true }))).toMatchObject(missing);
    expect(await refusal(client.rotateWebhookEndpointSecret(foreign))).toMatchObject(missing);
    expect(await refusal(client.deleteWebhookEndpoint(foreign))).toMatchObject(missing);
    expect((await targetOf(foreign.endpoint.ownerId, endpoint!.id)).secrets).toEqual([]);
    expect((await client.listWebhookEndpoints({ ownerId })).endpoints).toEqual([endpoint]);
  });

  it("also signs with the replaced secret, for a day", async () => {
    const ownerId = await owner();
    const { endpoint, secret: first } = await create(ownerId);
    const { secret: second } = await client.rotateWebhookEndpointSecret({ endpoint: { ownerId, id: endpoint!.id } });
    expect((await targetOf(ownerId, endpoint!.id)).secrets).toEqual([second, first]);
    const aged = { $set: { "endpoints.0.secrets.0.createdAt": new Date(Date.now() - DAY_MS) } };
    await records().updateOne({ _id: ownerId }, aged);
    expect((await targetOf(ownerId, endpoint!.id)).secrets).toEqual([second]);
  });

  it.each([
    ["url", "http://127.0.0.1/hook", ["execution.completed"]],
    ["url", "ftp://example.com", ["execution.completed"]],
    ["events.0", URL, ["execution.started"]],
    ["events", URL, []],
  ])("is rejected for an invalid %s: %s %j", async (path, url, events) => {
    const { reason, metadata } = await refusal(create(await owner(), events, url));
    expect(reason).toBe("INVALID_REQUEST");
    expect(metadata.issues).toMatchObject([{ path }]);
  });

  it("doesn't affect the key's webhook", async () => {
    const ownerId = await owner();
    const { key } = await createKey(client, ownerId, { preset: "webhook-receiver", webhookUrl: URL });
    await create(ownerId, ["execution.sync.completed"]);
    expect((await client.getWebhookTarget({ keyId: key!.id })).events).not.toContain("execution.sync.completed");
  });
});

describe("a webhook endpoint with failing deliveries", () => {
  /** Reports about one endpoint, with times in days. */
  const reporter = async () => {
    const ownerId = await owner();
    const id = (await create(ownerId)).endpoint!.id;
    const { revision } = await targetOf(ownerId, id);
    const report = async (day: number, outcome: "delivered" | "failed" | "given up"): Promise<boolean> => {
      const at = new Date(SINCE + day * DAY_MS);
      const request = { keyId: "", url: URL, revision, at, delivered: outcome === "delivered", final: outcome === "given up" };
      return (await client.reportDelivery({ ...request, endpoint: { ownerId, id } })).disabled;
    };
    const current = async () => (await client.listWebhookEndpoints({ ownerId })).endpoints[0]!;
    return { ownerId, id, report, current };
  };

  it("is disabled if a delivery fails for five days without a success, and its account gets no more messages", async () => {
    const { ownerId, report, current } = await reporter();
    expect(await report(0, "failed")).toBe(false);
    expect(await report(4.99, "given up")).toBe(false);
    expect(await report(5.1, "failed")).toBe(false);
    for (let round = 0; round < 2; round += 1) expect(await report(5.2, "given up")).toBe(true);
    expect(await current()).toMatchObject({
      disabledAt: expect.any(Date) as Date,
      disabledReason: "every delivery has failed since 2030-01-01T00:00:00.000Z",
    });
    expect(await wantedBy(ownerId)).toEqual([]);
  });

  it("starts over after a success, but not after one from before the failures", async () => {
    const { report, current } = await reporter();
    await report(0, "failed");
    await report(4, "delivered");
    await report(4.1, "failed");
    expect(await report(6, "given up")).toBe(false);
    await report(4.05, "delivered");
    expect(await report(9.2, "given up")).toBe(true);
    expect((await current()).disabledReason).toContain("2030-01-05T02:24:00.000Z");
  });

  it("starts over when it is enabled, whatever earlier deliveries still report", async () => {
    const { ownerId, id, report, current } = await reporter();
    await report(0, "failed");
    expect(await report(6, "given up")).toBe(true);
    await client.updateWebhookEndpoint({ endpoint: { ownerId, id }, events: undefined, disabled: false });
    expect(await report(7, "given up")).toBe(false);
    expect((await current()).disabledAt).toBeUndefined();
    expect(await wantedBy(ownerId)).toEqual(["execution.completed"]);
  });
});
