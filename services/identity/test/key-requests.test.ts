import { randomUUID } from "node:crypto";
import { identity } from "@nodeloom/proto";
import type { KeyRequestRecord } from "../src/keys/records";
import { createKey, newUser, refusal, useIdentity } from "./support";

const { client, deployment } = useIdentity();

const START = Date.parse("2030-01-01T00:00:00.000Z");
const requestRecords = () => deployment.database.collection<KeyRequestRecord>("key-requests");

const newKey = async (): Promise<{ userId: string; keyId: string }> => {
  const user = await newUser(client, { tier: "pro" });
  return { userId: user.id, keyId: (await createKey(client, user.id, { name: "Logged" })).key!.id };
};
const requestOf = (keyId: string, number: number, part: Partial<identity.KeyRequest> = {}): identity.KeyRequest =>
  identity.KeyRequest.fromPartial({
    ...{ keyId, at: new Date(START + number), method: "GET", route: "/api/usage", status: 200, durationMs: 5, requestId: `r${number}` },
    ...part,
  });
const record = (keyId: string, first: number, count: number) =>
  client.recordKeyRequests({ requests: Array.from({ length: count }, (_, index) => requestOf(keyId, first + index)) });
const list = (of: { userId: string; keyId: string }, part: Partial<identity.ListKeyRequestsRequest> = {}) =>
  client.listKeyRequests({ ...of, leastStatus: 0, mostStatus: 0, limit: 500, cursor: "", ...part });
const numbers = ({ requests }: identity.ListKeyRequestsResponse): string[] => requests.map(({ requestId }) => requestId);

describe("the request log of a key", () => {
  it("lists requests as they were reported, newest first, page by page", async () => {
    const key = await newKey();
    const failed = requestOf(key.keyId, 2, { status: 404, errorCode: "NOT_FOUND", executionId: randomUUID(), ip: "203.0.113.7" });
    await client.recordKeyRequests({ requests: [requestOf(key.keyId, 1), failed] });
    const page = await list(key, { limit: 1 });
    expect(page.requests).toEqual([failed]);
    const next = await list(key, { limit: 1, cursor: page.nextCursor });
    expect([next.requests, next.nextCursor]).toEqual([[requestOf(key.keyId, 1)], ""]);
  });

  it("is filtered by status", async () => {
    const key = await newKey();
    const requests = [200, 404, 422, 500].map((status, number) => requestOf(key.keyId, number, { status }));
    await client.recordKeyRequests({ requests });
    expect(numbers(await list(key, { leastStatus: 400, mostStatus: 499 }))).toEqual(["r2", "r1"]);
    expect(numbers(await list(key, { leastStatus: 500, mostStatus: 500 }))).toEqual(["r3"]);
  });

  it("has at most the newest 1,000 requests, however they arrive", async () => {
    const key = await newKey();
    for (let first = 0; first < 2_400; first += 800) await record(key.keyId, first, 800);
    await Promise.all([record(key.keyId, 2_400, 50), record(key.keyId, 2_450, 50)]);
    expect(await requestRecords().countDocuments({ keyId: key.keyId })).toBe(1_000);
    const first = await list(key);
    const second = await list(key, { cursor: first.nextCursor });
    expect(second.nextCursor).toBe("");
    expect([...numbers(first), ...numbers(second)]).toEqual(Array.from({ length: 1_000 }, (_, index) => `r${2_499 - index}`));
    expect((await refusal(record(key.keyId, 0, 1_001))).reason).toBe("INVALID_REQUEST");
  });

  it("is read by the owner only, also after the key was deleted, and takes no requests then", async () => {
    const [key, other] = [await newKey(), await newKey()];
    await record(key.keyId, 0, 1);
    expect((await refusal(list({ ...key, userId: other.userId }))).reason).toBe("NOT_FOUND");
    expect((await refusal(list(key, { madeBy: other.userId }))).reason).toBe("NOT_FOUND");
    await client.revokeKey(key);
    expect(numbers(await list(key))).toEqual(["r0"]);
    expect((await refusal(list({ ...key, userId: other.userId }))).reason).toBe("NOT_FOUND");
    await record(key.keyId, 1, 1);
    expect(numbers(await list(key))).toEqual(["r0"]);
    expect((await refusal(list({ ...key, keyId: randomUUID() }))).reason).toBe("NOT_FOUND");
  });
});
