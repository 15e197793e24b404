import { DomainError } from "@nodeloom/kernel";
import type { identity } from "@nodeloom/proto";
import { createOwners } from "../src/owners";

const CREATED = new Date("2026-01-01");
const GRANTED = new Date("2026-02-01");
const ENDED = new DomainError("unauthenticated", "UNAUTHENTICATED", "the access of who set this up has ended");

it.each([
  [
    { personId: "person", createdAt: CREATED },
    { personId: "person", at: CREATED },
  ],
  [
    { personId: "person", createdAt: CREATED, grantedAt: GRANTED },
    { personId: "person", at: GRANTED },
  ],
  [{ createdAt: CREATED }, { personId: "owner", at: CREATED }],
])("runs a session's hook or schedule only while its creator has access: %j", async (set, grant) => {
  const requests: unknown[] = [];
  const getUser = (request: unknown): Promise<identity.GetUserResponse> => {
    requests.push(request);
    return Promise.reject(ENDED);
  };
  const owners = createOwners({ identity: { getUser, resolveKey: () => Promise.reject(new Error("no key is asked for")) } as never });
  await expect(owners.runner({ userId: "owner", keyId: null, ...set }, "poster")).rejects.toBe(ENDED);
  expect(requests).toEqual([{ userId: "owner", grant }]);
});

describe("the webhook of a schedule's runs", () => {
  const OWN = { url: "https://example.com/own", events: ["execution.failed"] };
  const user = {
    ...{ id: "owner", role: "user", tier: "pro", approved: true, suspended: false, endpointEvents: [] },
    plan: { base: "pro", markupPermille: 1_500, concurrency: 5 },
  };
  const ownersOf = (capabilities: string[]) =>
    createOwners({
      identity: {
        getUser: () => Promise.resolve({ user }),
        resolveKey: () =>
          Promise.resolve({
            ...{ user, effectiveCapabilities: capabilities },
            key: { id: "key", metadata: {}, webhook: { url: "https://example.com/key", events: [] } },
          }),
      } as never,
    });
  const received = async (keyId: string | null, capabilities: string[], webhook: typeof OWN | null) => {
    const { webhookUrl, webhookOwn } = await ownersOf(capabilities).runner({ userId: "owner", keyId, webhook }, "poster");
    return [webhookUrl, webhookOwn];
  };
  const KEY = ["workflow:run", "webhook:receive"];

  it("is its own in place of the key's, also for a session, while its key can receive webhooks", async () => {
    expect(await received("key", KEY, OWN)).toEqual([OWN.url, true]);
    expect(await received(null, [], OWN)).toEqual([OWN.url, true]);
    expect(await received("key", KEY, null)).toEqual(["https://example.com/key", false]);
    expect(await received(null, [], null)).toEqual(["", false]);
    expect(await received("key", ["workflow:run"], OWN)).toEqual(["", false]);
  });
});
