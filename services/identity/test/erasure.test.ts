import { randomUUID } from "node:crypto";
import { connectRedis, createGrpcClient, redisReady, type ClientOf, type Logger } from "@nodeloom/platform";
import { accountErasure, erasure, identity, type organizations } from "@nodeloom/proto";
import { createErasures, type ErasuresOptions } from "../src/erasure/erasures";
import { deploy, PASSWORD, type Deployment, type IdentityClient } from "./support";

const ADDRESS = "192.0.2.1";

let deployment: Deployment;
let client: IdentityClient;
let leaving: ClientOf<accountErasure.AccountErasureServiceServer>;
let owner: ClientOf<erasure.ErasureServiceServer>;
let shared: ClientOf<organizations.OrganizationsServiceServer>;
beforeAll(async () => {
  deployment = await deploy();
  const instance = await deployment.startInstance({ ACCOUNT_ERASURE_DAYS: "0", SECRETS_KEYS: "ab".repeat(32) });
  ({ client, organizations: shared } = instance);
  leaving = createGrpcClient(accountErasure.AccountErasureServiceService, { address: instance.address });
  owner = createGrpcClient(erasure.ErasureServiceService, { address: instance.address });
});
afterAll(async () => {
  leaving.close();
  owner.close();
  await deployment.stop();
});

const register = async (): Promise<{ userId: string; email: string }> => {
  const email = `${randomUUID()}@leaving.test`;
  const { user } = await client.register({ email, password: PASSWORD, address: ADDRESS });
  await client.updateUser(identity.UpdateUserRequest.fromPartial({ userId: user!.id, approved: true, tier: "pro" }));
  return { userId: user!.id, email };
};
const ask = (userId: string, password = PASSWORD) =>
  leaving.requestErasure({ userId, organizationId: "", proof: { $case: "password", value: password }, address: ADDRESS });
const erase = async (ownerId: string): Promise<void> => {
  for (let cursor = "", passes = 0; passes < 2; passes += cursor === "" ? 1 : 0)
    ({ nextCursor: cursor } = await owner.erase({ ownerId, cursor }));
};

/** Contents of all collections as text. */
const everything = async (): Promise<Map<string, string>> => {
  const collections = await deployment.database.listCollections();
  const documents = collections.map(
    async ({ name }) => [name, JSON.stringify(await deployment.database.collection(name).find().toArray())] as const,
  );
  return new Map(await Promise.all(documents));
};

it("erases the sessions and stored answers of an account, and nobody else's", async () => {
  const redis = connectRedis({ url: process.env.REDIS_URL!, logger: console as unknown as Logger });
  await redisReady(redis);
  const [leaver, other] = [randomUUID(), randomUUID()];
  const { channelPrefix: prefix } = deployment;
  await redis.set(`${prefix}session:a`, JSON.stringify({ userId: leaver, epoch: 1 }));
  await redis.set(`${prefix}session:b`, JSON.stringify({ userId: other, note: leaver }));
  await redis.set(`${prefix}session:c`, "no JSON");
  await redis.hset(`${prefix}idempotency:a`, { owner: leaver, reply: "{}" });
  await redis.hset(`${prefix}idempotency:b`, { owner: other, reply: leaver });
  await erase(leaver);
  const keys = await redis.keys(`${prefix}*`);
  expect(keys.sort()).toEqual(["idempotency:b", "session:b", "session:c"].map((key) => prefix + key));
  await redis.del(...keys);
  redis.disconnect();
});

it("lets an account cancel its deletion until its erasure has started, and never after", async () => {
  const { userId } = await register();
  await expect(ask(userId, "not the password")).rejects.toMatchObject({ reason: "UNAUTHENTICATED" });
  await expect(leaving.beginErasure({ userId })).rejects.toMatchObject({ reason: "PRECONDITION_FAILED" });
  const first = await ask(userId);
  expect((await ask(userId)).user?.erasesAt).toEqual(first.user?.erasesAt);
  expect((await client.listRunStops({})).stops).toContainEqual(expect.objectContaining({ userId, lifted: false }));
  expect((await leaving.withdrawErasure({ userId, organizationId: "" })).user?.erasesAt).toBeUndefined();
  await expect(leaving.beginErasure({ userId })).rejects.toMatchObject({ reason: "PRECONDITION_FAILED" });
  await ask(userId);
  await leaving.beginErasure({ userId });
  await leaving.beginErasure({ userId });
  await expect(leaving.withdrawErasure({ userId, organizationId: "" })).rejects.toMatchObject({ reason: "PRECONDITION_FAILED" });
});

it("keeps only ids in the audit of an erased account; its address is free at once", async () => {
  const { userId, email } = await register();
  const word = `word-${userId}`;
  const { key, value } = await client.createKey(
    identity.CreateKeyRequest.fromPartial({ userId, name: word, preset: "full-deploy", webhookUrl: "https://example.com/hook" }),
  );
  await client.putSecret({ owner: userId, name: "A_SECRET", value: word, hosts: ["example.com"], workflows: [], setBy: userId });
  const revoked = await client.createKey(identity.CreateKeyRequest.fromPartial({ userId, name: `old ${word}`, preset: "full-deploy" }));
  await client.revokeKey({ userId, keyId: revoked.key!.id });
  const logged = { keyId: key!.id, at: new Date(), method: "GET", route: "/api/usage", status: 200, ip: "203.0.113.78" };
  await client.recordKeyRequests({ requests: [identity.KeyRequest.fromPartial(logged)] });
  const other = randomUUID();
  const DONE = identity.AuditOutcome.AUDIT_OUTCOME_DONE;
  const rows = [
    { id: randomUUID(), actorId: "admin", action: "user.update", target: userId, beforeJson: JSON.stringify({ email }), outcome: DONE },
    { id: randomUUID(), actorId: userId, action: "secret.put", target: "A_SECRET", changeJson: `{"hosts":["${word}"]}`, outcome: DONE },
    { id: randomUUID(), actorId: "admin", action: "user.update", target: "other", beforeJson: `{"email":"other"}`, outcome: DONE },
    { id: randomUUID(), actorId: userId, action: "key.create", target: word, ownerId: userId, outcome: DONE },
    { id: randomUUID(), actorId: userId, action: "key.revoke", target: other, ownerId: userId, outcome: DONE, ip: "203.0.113.77" },
  ];
  for (const row of rows) {
    await client.recordAudit({ row: identity.AuditRow.fromPartial({ ...row, outcome: identity.AuditOutcome.AUDIT_OUTCOME_PENDING }) });
    await client.recordAudit({ row: identity.AuditRow.fromPartial(row) });
  }

  await ask(userId);
  expect((await leaving.listErasures({})).erasures).toContainEqual({ userId, isEnded: false });
  await leaving.beginErasure({ userId });
  await expect(client.login({ email, password: PASSWORD, address: ADDRESS })).rejects.toMatchObject({ reason: "UNAUTHENTICATED" });
  await expect(client.authenticateKey({ value })).rejects.toMatchObject({ reason: "UNAUTHENTICATED" });
  const again = await client.register({ email, password: PASSWORD, address: "192.0.2.2" });

  await erase(userId);
  await leaving.endErasure({ userId });
  await leaving.forgetErased({ userId });
  await leaving.forgetErased({ userId });

  const remainder = await everything();
  const where = (text: string): string[] => [...remainder].filter(([, documents]) => documents.includes(text)).map(([name]) => name);
  expect(where(userId)).toEqual(["audit"]);
  expect([word, key!.id, "A_SECRET", "203.0.113.77", "203.0.113.78"].map(where)).toEqual([[], [], [], [], []]);
  expect(where(email)).toEqual(["users"]);
  expect((await client.getUser({ userId: again.user!.id })).user?.email).toBe(email);
  const { rows: audit } = await client.listAudit({ limit: 100, cursor: "", filter: undefined });
  expect(audit.find(({ id }) => id === rows[0]!.id)).toMatchObject({ actorId: "admin", target: userId, beforeJson: "" });
  expect(audit.find(({ id }) => id === rows[2]!.id)).toMatchObject({ beforeJson: `{"email":"other"}` });
  const { rows: own } = await client.listAudit({ limit: 100, cursor: "", ownerId: userId, filter: undefined });
  expect(own.map(({ action, target }) => [action, target])).toEqual([
    ["key.revoke", other],
    ["key.create", ""],
  ]);
  expect(await deployment.database.collection("known-addresses").countDocuments()).toBe(2);
});

describe("an organization", () => {
  const make = async (maker: string, name = "Loom Works"): Promise<string> =>
    (await shared.createOrganization({ personId: maker, name })).membership!.organization!.id;
  const join = async (maker: string, organizationId: string, role: string): Promise<string> => {
    const { token } = await shared.createInvitation({ personId: maker, organizationId, role, email: "" });
    const { userId } = await register();
    await shared.acceptInvitation({ personId: userId, token });
    return userId;
  };
  const askFor = (organizationId: string, userId: string, password = PASSWORD) =>
    leaving.requestErasure({ userId, organizationId, proof: { $case: "password", value: password }, address: ADDRESS });
  const reasons = async (calls: Promise<unknown>[]): Promise<unknown[]> =>
    (await Promise.allSettled(calls)).map((result) =>
      result.status === "rejected" ? (result.reason as { reason: string }).reason : "done",
    );

  it("is deleted by an owner with their password, and any other owner can cancel until it starts", async () => {
    const [{ userId: maker }, { userId: stranger }] = [await register(), await register()];
    const id = await make(maker);
    const [second, editor] = [await join(maker, id, "owner"), await join(maker, id, "editor")];
    const requests = [askFor(id, stranger), askFor(id, editor), askFor(id, maker, "not the password"), askFor(maker, maker)];
    expect(await reasons(requests)).toEqual(["NOT_FOUND", "CAPABILITY_DENIED", "UNAUTHENTICATED", "NOT_FOUND"]);
    await expect(leaving.beginErasure({ userId: id })).rejects.toMatchObject({ reason: "PRECONDITION_FAILED" });

    const [first, again] = await Promise.all([askFor(id, maker), askFor(id, second)]);
    expect(first.user).toMatchObject({ id, erasesAt: again.user!.erasesAt! });
    const { membership } = await shared.getMembership({ personId: editor, organizationId: id });
    expect(membership).toMatchObject({ organization: { erasesAt: first.user!.erasesAt! }, account: { erasesAt: first.user!.erasesAt! } });
    await expect(
      client.createKey(identity.CreateKeyRequest.fromPartial({ userId: id, madeBy: maker, name: "Late", preset: "full-deploy" })),
    ).rejects.toMatchObject({
      reason: "ACCOUNT_LEAVING",
    });
    const { stops } = await client.listRunStops({});
    expect(stops).toContainEqual(expect.objectContaining({ userId: id, lifted: false, organizationIds: [] }));

    const keep = (userId: string) => leaving.withdrawErasure({ userId, organizationId: id });
    expect(await reasons([keep(editor), keep(stranger)])).toEqual(["CAPABILITY_DENIED", "NOT_FOUND"]);
    expect((await keep(second)).user?.erasesAt).toBeUndefined();
    await keep(second);
    expect((await leaving.listErasures({})).erasures).not.toContainEqual({ userId: id, isEnded: false });
    await leaving.requestErasure({ userId: "", organizationId: id, proof: { $case: "byAdministrator", value: true }, address: "" });
    expect((await leaving.listErasures({})).erasures).toContainEqual({ userId: id, isEnded: false });
    await leaving.beginErasure({ userId: id });
    expect(await reasons([keep(second), keep("")])).toEqual(["NOT_FOUND", "PRECONDITION_FAILED"]);
  });

  it("is absent for its members once its erasure starts, and keeps ids in the audit", async () => {
    const { userId: maker } = await register();
    const name = `Looms ${randomUUID()}`;
    const id = await make(maker, name);
    const keyRequest = identity.CreateKeyRequest.fromPartial({ userId: id, madeBy: maker, name, preset: "full-deploy" });
    const { key, value } = await client.createKey(keyRequest);
    await client.putSecret({ owner: id, name: "A_SECRET", value: name, hosts: ["example.com"], workflows: [], setBy: maker });
    const row = {
      id: randomUUID(),
      actorId: maker,
      action: "organization.rename",
      target: id,
      ownerId: id,
      afterJson: `{"name":"${name}"}`,
    };
    await client.recordAudit({ row: identity.AuditRow.fromPartial({ ...row, outcome: identity.AuditOutcome.AUDIT_OUTCOME_PENDING }) });
    await client.recordAudit({ row: identity.AuditRow.fromPartial({ ...row, outcome: identity.AuditOutcome.AUDIT_OUTCOME_DONE }) });

    await askFor(id, maker);
    await client.authenticateKey({ value });
    await leaving.beginErasure({ userId: id });
    await leaving.beginErasure({ userId: id });
    const requests = [shared.getMembership({ personId: maker, organizationId: id }), client.authenticateKey({ value }), askFor(id, maker)];
    expect(await reasons(requests)).toEqual(["NOT_FOUND", "UNAUTHENTICATED", "NOT_FOUND"]);
    expect((await client.getUser({ userId: id })).user).toMatchObject({ suspended: true });
    expect((await shared.listOrganizations({ personId: maker })).memberships).toEqual([]);
    await erase(id);
    await leaving.endErasure({ userId: id });
    expect((await leaving.listErasures({})).erasures).toContainEqual({ userId: id, isEnded: true });
    await leaving.forgetErased({ userId: id });

    const remainder = await everything();
    const where = (text: string): string[] => [...remainder].filter(([, documents]) => documents.includes(text)).map(([place]) => place);
    expect([where(id), where(name), where(key!.id)]).toEqual([["audit"], [], []]);
    expect(where(maker)).toContain("users");
    await expect(client.getUser({ userId: id })).rejects.toMatchObject({ reason: "NOT_FOUND" });
  });

  it("that is scheduled for deletion doesn't prevent its only owner's deletion", async () => {
    const { userId } = await register();
    const id = await make(userId);
    await expect(ask(userId)).rejects.toMatchObject({ reason: "SOLE_OWNER", metadata: { organizations: [{ id, name: "Loom Works" }] } });
    await askFor(id, userId);
    expect((await ask(userId)).user?.erasesAt).toBeDefined();
  });

  it("is deleted with the account of its last member, and otherwise passes to the longest-standing member", async () => {
    const { userId } = await register();
    const [lone, common] = [await make(userId), await make(userId)];
    await Promise.all([askFor(lone, userId), askFor(common, userId)]);
    const heir = await join(userId, common, "viewer");
    await ask(userId);
    await leaving.beginErasure({ userId });
    for (const organizationId of [lone, common]) await leaving.withdrawErasure({ userId, organizationId });
    await erase(userId);
    expect((await leaving.listErasures({})).erasures).toContainEqual({ userId: lone, isEnded: false });
    const { membership } = await shared.getMembership({ personId: heir, organizationId: common });
    expect(membership).toMatchObject({ role: "owner", organization: { members: 1, tierOf: heir } });
  });
});

it("rejects administrators, sole owners of organizations, and a recent sign-in in place of a password", async () => {
  const { userId } = await register();
  await expect(
    leaving.requestErasure({ userId, organizationId: "", proof: { $case: "recentSignIn", value: true }, address: ADDRESS }),
  ).rejects.toMatchObject({
    reason: "INVALID_REQUEST",
  });
  await client.updateUser(identity.UpdateUserRequest.fromPartial({ userId, role: "admin" }));
  await expect(ask(userId)).rejects.toMatchObject({ reason: "PRECONDITION_FAILED" });

  const owning = createErasures({
    users: { find: () => Promise.resolve({ role: "user", passwordHash: "hash" }) },
    soleOwnerships: () => Promise.resolve([{ id: "org", name: "Looms" }]),
  } as unknown as ErasuresOptions);
  await expect(owning.request({ userId: "u", organizationId: "" }, "administrator")).rejects.toMatchObject({
    reason: "SOLE_OWNER",
    metadata: { organizations: [{ id: "org", name: "Looms" }] },
  });
});

it("removes a value of metadata from an account's audit rows, and nothing else", async () => {
  const [userId, value] = [randomUUID(), `zq${randomUUID()}`];
  const record = async (target: string, change: unknown, ownerId = userId): Promise<string> => {
    const row = { id: randomUUID(), actorId: userId, action: "budget.set", target, ownerId, changeJson: JSON.stringify(change) };
    await client.recordAudit({ row: identity.AuditRow.fromPartial({ ...row, outcome: identity.AuditOutcome.AUDIT_OUTCOME_PENDING }) });
    return row.id;
  };
  await record(`metadata customer=${value}`, { metadata: { name: "customer", value }, credits: 5 });
  await record("a-key", { name: "kept", metadata: { customer: value, team: value } });
  await record("metadata customer=other", {});
  await record(`metadata customer=${value}`, {}, randomUUID());
  await owner.eraseMetadata({ ownerId: userId, name: "customer", value, within: {} });
  const { rows } = await client.listAudit({ ownerId: userId, limit: 10, cursor: "", filter: undefined });
  expect(rows.map(({ target, changeJson }) => [target, changeJson]).sort()).toEqual([
    ["a-key", JSON.stringify({ name: "kept", metadata: { customer: "[erased]", team: value } })],
    ["metadata customer=[erased]", JSON.stringify({ metadata: { name: "customer", value: "[erased]" }, credits: 5 })],
    ["metadata customer=other", "{}"],
  ]);
  const audit = (await everything()).get("audit") ?? "";
  expect(audit.split(`customer=${value}`)).toHaveLength(2);
});
