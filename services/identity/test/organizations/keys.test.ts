import type { identity } from "@nodeloom/proto";
import { createKey, deploy, eventually, newUser, refusal, type Deployment, type Instance } from "../support";
import { peopleAt, refusals } from "./people";

let deployment: Deployment;
let one: Instance;
let other: Instance;
const PRO = { tier: "pro" };
const { make, invite, join } = peopleAt(() => one);

beforeAll(async () => {
  deployment = await deploy();
  [one, other] = await Promise.all([deployment.startInstance(), deployment.startInstance()]);
});
afterAll(() => deployment.stop());

describe("keys of organizations", () => {
  const keyOf = (maker: identity.User, organizationId: string) =>
    createKey(one.client, organizationId, { madeBy: maker.id, preset: "full-deploy" });
  /** The key's state at the other instance. */
  const standing = (value: string): Promise<string> =>
    other.client.authenticateKey({ value }).then(
      () => "admitted",
      ({ reason }: { reason: string }) => reason,
    );

  it("act for the organization within the current role of their creator", async () => {
    const owner = await newUser(one.client, { tier: "business" });
    const id = await make(owner);
    const maker = await join(owner, id, "editor");
    const { value } = await keyOf(maker, id);
    const use = () => other.client.authenticateKey({ value });
    expect(await use()).toMatchObject({ user: { id, tier: "business" }, person: { id: maker.id }, role: "editor" });
    expect((await use()).effectiveCapabilities).toContain("workflow:write");

    await one.organizations.changeMember({ personId: owner.id, organizationId: id, userId: maker.id, role: "viewer" });
    await eventually(async () => (await use()).effectiveCapabilities.join() === "workflow:read,execution:read");
  });

  it("end when their creator leaves, and stay ended when the creator returns", async () => {
    const owner = await newUser(one.client, PRO);
    const id = await make(owner);
    const maker = await join(owner, id, "editor");
    const { value, key } = await keyOf(maker, id);
    await other.client.authenticateKey({ value });
    const elsewhere = await make(owner);
    await one.organizations.acceptInvitation({ personId: maker.id, token: await invite(owner, elsewhere) });
    const others = [await keyOf(owner, id), await keyOf(maker, elsewhere)];
    const keys = deployment.database.collection<{ _id: string }>("keys");
    // State after a crash between removing the member and the member's keys.
    const keptKey = await keys.findOne({ _id: key!.id });
    await one.organizations.removeMember({ personId: maker.id, organizationId: id, userId: maker.id });
    expect(await keys.countDocuments({ _id: key!.id })).toBe(0);
    expect(await Promise.all(others.map((remainingKey) => standing(remainingKey.value)))).toEqual(["admitted", "admitted"]);
    await one.client.revokeKey({ userId: id, keyId: others[0]!.key!.id, madeBy: undefined });
    await keys.insertOne(keptKey!);
    await eventually(async () => (await standing(value)) === "UNAUTHENTICATED");
    expect((await one.client.listKeys({ userId: id })).keys).toEqual([]);

    const token = await invite(owner, id, "owner");
    await one.organizations.acceptInvitation({ personId: maker.id, token });
    expect(await standing(value)).toBe("UNAUTHENTICATED");
  });

  it("end with their creator's suspension and approval, and not with others'", async () => {
    const owner = await newUser(one.client, PRO);
    const id = await make(owner);
    const [maker, colleague] = [await join(owner, id), await join(owner, id)];
    const { value } = await keyOf(maker, id);
    await one.client.updateUser({ userId: colleague.id, suspended: true });
    expect(await standing(value)).toBe("admitted");
    await one.client.updateUser({ userId: maker.id, suspended: true });
    await eventually(async () => (await standing(value)) === "ACCOUNT_SUSPENDED");
    expect((await refusal(keyOf(maker, id))).reason).toBe("ACCOUNT_SUSPENDED");
    await one.client.updateUser({ userId: maker.id, suspended: false });
    await eventually(async () => (await standing(value)) === "admitted");
    await one.client.updateUser({ userId: maker.id, approved: false });
    await eventually(async () => (await standing(value)) === "UNAUTHENTICATED");
    expect((await one.client.listKeys({ userId: id })).keys).toEqual([]);
  });

  it("can be changed only by their creator if the request says so", async () => {
    const owner = await newUser(one.client, PRO);
    const id = await make(owner);
    const [maker, colleague] = [await join(owner, id), await join(owner, id)];
    const { key } = await keyOf(maker, id);
    const which = { userId: id, keyId: key!.id, madeBy: colleague.id };
    const attempts = [
      one.client.rotateKey({ ...which, graceSeconds: 0 }),
      one.client.updateKey({ ...which, name: "Mine", capabilities: undefined, metadata: undefined }),
      one.client.setKeyWebhook({ ...which, url: "https://example.com/", events: [] }),
      one.client.deleteKeyWebhook(which),
      one.client.revokeKey(which),
    ];
    expect(await refusals(attempts)).toEqual(attempts.map(() => "NOT_FOUND"));
    await one.client.revokeKey({ ...which, madeBy: undefined });
  });

  it("never have an administrator's rights", async () => {
    const admin = await newUser(one.client, { tier: "business", role: "admin" });
    const id = await make(admin);
    const { effectiveCapabilities, user } = await one.client.authenticateKey({ value: (await keyOf(admin, id)).value });
    expect(effectiveCapabilities).not.toContain("*");
    expect(user!.role).toBe("user");
    expect((await refusal(createKey(one.client, id, { madeBy: admin.id, capabilities: ["*"] }))).reason).toBe("CAPABILITY_ABOVE_CEILING");
  });
});

it("cancels the runs of organizations with those of the person whose tier they have", async () => {
  const maker = await newUser(one.client);
  const ids = [await make(maker), await make(maker)];
  const member = await join(maker, ids[0]!, "owner");
  await one.client.updateUser({ userId: member.id, suspended: true });
  await one.client.updateUser({ userId: maker.id, suspended: true });
  const { stops } = await one.client.listRunStops({});
  expect(Object.fromEntries(stops.map(({ userId, organizationIds }) => [userId, [...organizationIds].sort()]))).toMatchObject({
    [maker.id]: [...ids].sort(),
    [member.id]: [],
  });
});
