import { randomUUID } from "node:crypto";
import { createGrpcClient, type ClientOf } from "@nodeloom/platform";
import { accountErasure, erasure, identity } from "@nodeloom/proto";
import { createErasures, type ErasuresOptions } from "../src/erasure/erasures";
import { deploy, PASSWORD, type Deployment, type IdentityClient } from "./support";

const ADDRESS = "192.0.2.1";

let deployment: Deployment;
let client: IdentityClient;
let leaving: ClientOf<accountErasure.AccountErasureServiceServer>;
let owner: ClientOf<erasure.ErasureServiceServer>;
beforeAll(async () => {
  deployment = await deploy();
  const instance = await deployment.startInstance({ ACCOUNT_ERASURE_DAYS: "0", SECRETS_KEYS: "ab".repeat(32) });
  client = instance.client;
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
  leaving.requestErasure({ userId, proof: { $case: "password", value: password }, address: ADDRESS });

/** Everything that a database has, as one text. */
const everything = async (): Promise<Map<string, string>> => {
  const collections = await deployment.database.listCollections();
  const read = collections.map(
    async ({ name }) => [name, JSON.stringify(await deployment.database.collection(name).find().toArray())] as const,
  );
  return new Map(await Promise.all(read));
};

it("lets an account change its mind until its erasure has begun, and never after", async () => {
  const { userId } = await register();
  await expect(ask(userId, "not the password")).rejects.toMatchObject({ reason: "UNAUTHENTICATED" });
  await expect(leaving.beginErasure({ userId })).rejects.toMatchObject({ reason: "PRECONDITION_FAILED" });
  const first = await ask(userId);
  expect((await ask(userId)).user?.erasesAt).toEqual(first.user?.erasesAt);
  expect((await client.claimRunStop({})).stop).toMatchObject({ userId, lifted: false });
  expect((await leaving.withdrawErasure({ userId })).user?.erasesAt).toBeUndefined();
  await expect(leaving.beginErasure({ userId })).rejects.toMatchObject({ reason: "PRECONDITION_FAILED" });
  await ask(userId);
  await leaving.beginErasure({ userId });
  await leaving.beginErasure({ userId });
  await expect(leaving.withdrawErasure({ userId })).rejects.toMatchObject({ reason: "PRECONDITION_FAILED" });
});

it("leaves of an erased account ids in the audit, and nothing else; its address is free at once", async () => {
  const { userId, email } = await register();
  const word = `word-${userId}`;
  const { key, value } = await client.createKey(
    identity.CreateKeyRequest.fromPartial({ userId, name: word, preset: "full-deploy", webhookUrl: "https://example.com/hook" }),
  );
  await client.putSecret({ owner: userId, name: "A_SECRET", value: word, hosts: ["example.com"], setBy: userId });
  const other = randomUUID();
  const done = identity.AuditOutcome.AUDIT_OUTCOME_DONE;
  const rows = [
    { id: randomUUID(), actorId: "admin", action: "user.update", target: userId, beforeJson: JSON.stringify({ email }), outcome: done },
    { id: randomUUID(), actorId: userId, action: "secret.put", target: "A_SECRET", changeJson: `{"hosts":["${word}"]}`, outcome: done },
    { id: randomUUID(), actorId: "admin", action: "user.update", target: "other", beforeJson: `{"email":"other"}`, outcome: done },
    { id: randomUUID(), actorId: userId, action: "key.create", target: word, ownerId: userId, outcome: done },
    { id: randomUUID(), actorId: userId, action: "key.revoke", target: other, ownerId: userId, outcome: done },
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

  for (let cursor = "", passes = 0; passes < 2; passes += cursor === "" ? 1 : 0)
    ({ nextCursor: cursor } = await owner.erase({ ownerId: userId, cursor }));
  await leaving.endErasure({ userId });
  await leaving.forgetErased({ userId });
  await leaving.forgetErased({ userId });

  const left = await everything();
  const where = (text: string): string[] => [...left].filter(([, documents]) => documents.includes(text)).map(([name]) => name);
  expect(where(userId)).toEqual(["audit"]);
  expect([where(word), where(key!.id), where("A_SECRET")]).toEqual([[], [], []]);
  expect(where(email)).toEqual(["users"]);
  expect((await client.getUser({ userId: again.user!.id })).user?.email).toBe(email);
  const { rows: audit } = await client.listAudit({ limit: 100, cursor: "" });
  expect(audit.find(({ id }) => id === rows[0]!.id)).toMatchObject({ actorId: "admin", target: userId, beforeJson: "" });
  expect(audit.find(({ id }) => id === rows[2]!.id)).toMatchObject({ beforeJson: `{"email":"other"}` });
  const { rows: own } = await client.listAudit({ limit: 100, cursor: "", ownerId: userId });
  expect(own.map(({ action, target }) => [action, target])).toEqual([
    ["key.revoke", other],
    ["key.create", ""],
  ]);
  expect(await deployment.database.collection("known-addresses").countDocuments()).toBe(2);
});

it("refuses administrators, sole owners of organizations, and a recent sign-in in the place of a password", async () => {
  const { userId } = await register();
  await expect(leaving.requestErasure({ userId, proof: { $case: "recentSignIn", value: true }, address: ADDRESS })).rejects.toMatchObject({
    reason: "PRECONDITION_FAILED",
  });
  await client.updateUser(identity.UpdateUserRequest.fromPartial({ userId, role: "admin" }));
  await expect(ask(userId)).rejects.toMatchObject({ reason: "PRECONDITION_FAILED" });

  const owning = createErasures({
    users: { find: () => Promise.resolve({ role: "user", passwordHash: "hash" }) },
    soleOwnerships: () => Promise.resolve([{ id: "org", name: "Looms" }]),
  } as unknown as ErasuresOptions);
  await expect(owning.request("u", "administrator")).rejects.toMatchObject({
    reason: "SOLE_OWNER",
    metadata: { organizations: [{ id: "org", name: "Looms" }] },
  });
});
