import { STOP_SETTLED_MS, createRunStops } from "../../src/users/run-stops";
import { createStore, type Store } from "../../src/store";
import { createKey, eventually, newUser, PASSWORD, refusal, useIdentity, type IdentityClient } from "../support";

const { client, deployment } = useIdentity();
let replica: IdentityClient;
let store: Store;
beforeAll(async () => {
  ({ client: replica } = await deployment.startInstance());
  store = createStore(deployment.database);
});
beforeEach(async () => void (await deployment.database.collection("run-stops").deleteMany({})));

const refusedWith = (value: string, reason: string) =>
  eventually(async () => {
    try {
      await replica.authenticateKey({ value });
      return false;
    } catch (error) {
      expect((error as { reason: string }).reason).toBe(reason);
      return true;
    }
  });

describe("a suspension", () => {
  it("rejects keys and sign-ins while it lasts, and ends the sessions", async () => {
    const { id, email } = await newUser(client, { tier: "pro" });
    const { value } = await createKey(client, id);
    await replica.authenticateKey({ value });
    const { user, before } = await client.updateUser({ userId: id, suspended: true });
    expect([before!.suspended, user!.suspended, user!.sessionEpoch]).toEqual([false, true, 1]);
    await refusedWith(value, "ACCOUNT_SUSPENDED");
    expect(await refusal(client.login({ email, password: PASSWORD }))).toMatchObject({ kind: "forbidden", reason: "ACCOUNT_SUSPENDED" });
    expect(await refusal(client.login({ email, password: "wrong password" }))).toMatchObject({ reason: "UNAUTHENTICATED" });
    expect(await refusal(createKey(client, id))).toMatchObject({ reason: "ACCOUNT_SUSPENDED" });
    await client.updateUser({ userId: id, suspended: false });
    await eventually(async () =>
      replica.authenticateKey({ value }).then(
        () => true,
        () => false,
      ),
    );
    expect((await client.login({ email, password: PASSWORD })).user!.sessionEpoch).toBe(1);
  });

  it("ends nothing again if it is repeated", async () => {
    const { id } = await newUser(client);
    await client.updateUser({ userId: id, suspended: true });
    expect((await client.updateUser({ userId: id, suspended: true })).user!.sessionEpoch).toBe(1);
  });

  it("is made once by many concurrent requests", async () => {
    const { id } = await newUser(client);
    await Promise.all(Array.from({ length: 8 }, () => client.updateUser({ userId: id, suspended: true }, { deadlineMs: 20_000 })));
    expect((await client.getUser({ userId: id })).user).toMatchObject({ suspended: true, sessionEpoch: 1 });
  });
});

describe("withdrawing approval", () => {
  it("ends sessions and keys once: signing in stays possible, and the keys never return", async () => {
    const { id, email } = await newUser(client, { tier: "pro" });
    const { value } = await createKey(client, id);
    await client.updateUser({ userId: id, approved: false });
    await refusedWith(value, "UNAUTHENTICATED");
    expect((await client.login({ email, password: PASSWORD })).user).toMatchObject({ approved: false, sessionEpoch: 1 });
    expect((await client.listKeys({ userId: id })).keys).toEqual([]);
    expect(await refusal(createKey(client, id))).toMatchObject({ reason: "ACCOUNT_NOT_APPROVED" });
    await client.updateUser({ userId: id, approved: true });
    await refusedWith(value, "UNAUTHENTICATED");
    const again = await createKey(client, id);
    await expect(replica.authenticateKey({ value: again.value })).resolves.toBeDefined();
    expect((await client.getUser({ userId: id })).user!.sessionEpoch).toBe(1);
  });

  it("ends keys even if a crash keeps them stored", async () => {
    const { id } = await newUser(client, { tier: "pro" });
    const { value, key } = await createKey(client, id);
    const stored = await deployment.database.collection<{ _id: string }>("keys").findOne({ _id: key!.id });
    await client.updateUser({ userId: id, approved: false });
    await deployment.database.collection<{ _id: string }>("keys").insertOne(stored!);
    await refusedWith(value, "UNAUTHENTICATED");
    expect((await client.listKeys({ userId: id })).keys).toEqual([]);
  });
});

describe("a run stop", () => {
  const count = (): Promise<number> => deployment.database.collection("run-stops").countDocuments();

  it("is created by a suspension, and listed until it is finished", async () => {
    const { id } = await newUser(client);
    await client.updateUser({ userId: id, suspended: true });
    const { stops } = await client.listRunStops({});
    expect(stops).toMatchObject([{ userId: id, lifted: false, settled: false }]);
    expect((await replica.listRunStops({})).stops).toEqual(stops);
    // A gateway of an earlier release leaves the stop to executions.
    expect(await client.claimRunStop({})).toEqual({});
    for (const finished of [client, replica]) await finished.finishRunStop({ stop: stops[0] });
    expect(await count()).toBe(0);
  });

  it("reports when the user can run again, and when no earlier request is in progress any more", async () => {
    const { id } = await newUser(client);
    let now = Date.now();
    await client.updateUser({ userId: id, approved: false });
    const stops = createRunStops({ store: store.runStops, users: store.users, organizations: store.organizations, clock: () => now });
    expect(await stops.list()).toMatchObject([{ lifted: false, settled: false }]);
    await client.updateUser({ userId: id, approved: true });
    now = Date.now() + STOP_SETTLED_MS;
    expect(await stops.list()).toMatchObject([{ lifted: true, settled: true }]);
  });

  it("of a failed update has no effect, and is dropped", async () => {
    const { id } = await newUser(client);
    let now = Date.now();
    const stops = createRunStops({ store: store.runStops, users: store.users, organizations: store.organizations, clock: () => now });
    await stops.begin(id);
    expect([await stops.list(), await count()]).toEqual([[], 1]);
    now += STOP_SETTLED_MS;
    expect([await stops.list(), await count()]).toEqual([[], 0]);
  });
});
