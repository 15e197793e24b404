import { ORGANIZATION_BOUNDS } from "@nodeloom/kernel";
import type { identity, organizations } from "@nodeloom/proto";
import { createKey, deploy, eventually, newUser, refusal, type Deployment, type Instance } from "../support";

let deployment: Deployment;
let one: Instance;
let other: Instance;
const PRO = { tier: "pro" };
const DAY_MS = 24 * 60 * 60 * 1_000;

beforeAll(async () => {
  deployment = await deploy();
  [one, other] = await Promise.all([deployment.startInstance(), deployment.startInstance()]);
});
afterAll(() => deployment.stop());

const make = async (person: identity.User, name = "Loom Works"): Promise<string> => {
  const { membership } = await one.organizations.createOrganization({ personId: person.id, name });
  return membership!.organization!.id;
};
const invite = async (owner: identity.User, organizationId: string, role = "editor"): Promise<string> =>
  (await one.organizations.createInvitation({ personId: owner.id, organizationId, role, email: "" })).token;
const join = async (owner: identity.User, organizationId: string, role = "editor"): Promise<identity.User> => {
  const person = await newUser(one.client);
  await one.organizations.acceptInvitation({ personId: person.id, token: await invite(owner, organizationId, role) });
  return person;
};
const rolesOf = async (person: identity.User, organizationId: string): Promise<Record<string, string>> => {
  const { members } = await one.organizations.listMembers({ personId: person.id, organizationId });
  return Object.fromEntries(members.map((member: organizations.Member) => [member.userId, member.role]));
};
const refusals = async (calls: Promise<unknown>[]): Promise<string[]> =>
  (await Promise.allSettled(calls)).flatMap((result) =>
    result.status === "rejected" ? [(result.reason as { reason: string }).reason] : [],
  );

describe("organizations", () => {
  it("have the tier and the approval of their maker, an id as every owner has, and nothing that is personal", async () => {
    const maker = await newUser(one.client, { tier: "business", role: "admin" });
    const id = await make(maker);
    const { user } = await one.client.getUser({ userId: id });
    expect(user).toMatchObject({ id, tier: "business", approved: true, role: "user", email: "", suspended: false });
    expect(user!.plan).toMatchObject({ base: "business", monthlyMillicredits: 0, concurrency: 50 });
    expect(user!.organization).toEqual({ name: "Loom Works", tierOf: maker.id });
    await one.client.updateUser({ userId: maker.id, suspended: true });
    expect((await one.client.getUser({ userId: id })).user!.suspended).toBe(true);
  });

  it("are bounded by their maker, whoever makes them at once, and made by approved people only", async () => {
    const maker = await newUser(one.client);
    const made = await refusals(Array.from({ length: ORGANIZATION_BOUNDS.perPerson + 3 }, () => make(maker)));
    expect(made).toEqual(["PRECONDITION_FAILED", "PRECONDITION_FAILED", "PRECONDITION_FAILED"]);
    const { memberships } = await one.organizations.listOrganizations({ personId: maker.id });
    expect(memberships).toHaveLength(ORGANIZATION_BOUNDS.perPerson);
    await one.client.updateUser({ userId: maker.id, approved: false });
    expect((await refusal(make(maker))).reason).toBe("ACCOUNT_NOT_APPROVED");
  });

  it("are nothing to who is no member", async () => {
    const [maker, stranger] = [await newUser(one.client), await newUser(one.client)];
    const id = await make(maker);
    const which = { personId: stranger.id, organizationId: id };
    const attempts = [
      one.organizations.getMembership(which),
      one.organizations.listMembers(which),
      one.organizations.renameOrganization({ ...which, name: "Theirs" }),
      one.organizations.changeMember({ ...which, userId: stranger.id, role: "owner" }),
      one.organizations.removeMember({ ...which, userId: maker.id }),
      one.organizations.listInvitations(which),
      one.organizations.createInvitation({ ...which, role: "owner", email: "" }),
    ];
    expect(await refusals(attempts)).toEqual(attempts.map(() => "NOT_FOUND"));
  });

  it("let members do what their role says", async () => {
    const maker = await newUser(one.client);
    const id = await make(maker);
    for (const role of ["editor", "runner", "viewer"]) {
      const which = { personId: (await join(maker, id, role)).id, organizationId: id };
      const attempts = [
        one.organizations.renameOrganization({ ...which, name: "Theirs" }),
        one.organizations.changeMember({ ...which, userId: which.personId, role: "owner" }),
        one.organizations.removeMember({ ...which, userId: maker.id }),
        one.organizations.listInvitations(which),
        one.organizations.createInvitation({ ...which, role: "viewer", email: "" }),
      ];
      expect(await refusals(attempts)).toEqual(attempts.map(() => "CAPABILITY_DENIED"));
    }
  });
});

describe("owners", () => {
  it("never all leave, however many go at once", async () => {
    const maker = await newUser(one.client);
    const id = await make(maker);
    const second = await join(maker, id, "owner");
    const leave = ({ id: personId }: identity.User, instance: Instance) =>
      instance.organizations.removeMember({ personId, organizationId: id, userId: personId });
    expect(await refusals([leave(maker, one), leave(second, other)])).toEqual(["PRECONDITION_FAILED"]);
    const { organizations: left } = await one.organizations.listAllOrganizations({ query: "", limit: 500, cursor: "", tierOf: undefined });
    expect(left.find((organization) => organization.id === id)!.members).toBe(1);
  });

  it("hand the tier on when its maker is no owner any more, and end their invitations with their role", async () => {
    const maker = await newUser(one.client, { tier: "enterprise" });
    const id = await make(maker);
    const second = await join(maker, id, "owner");
    const token = await invite(maker, id, "owner");
    await one.organizations.changeMember({ personId: second.id, organizationId: id, userId: maker.id, role: "viewer" });
    expect((await one.client.getUser({ userId: id })).user).toMatchObject({ tier: second.tier, organization: { tierOf: second.id } });
    expect((await refusal(one.organizations.acceptInvitation({ personId: (await newUser(one.client)).id, token }))).reason).toBe(
      "NOT_FOUND",
    );
    expect(await rolesOf(maker, id)).toEqual({ [maker.id]: "viewer", [second.id]: "owner" });
  });
});

describe("invitations", () => {
  it("are used once, however many use them at once", async () => {
    const maker = await newUser(one.client);
    const id = await make(maker);
    const token = await invite(maker, id, "runner");
    const people = await Promise.all(Array.from({ length: 4 }, () => newUser(one.client)));
    const accepted = people.map(({ id: personId }, index) =>
      (index % 2 === 0 ? one : other).organizations.acceptInvitation({ personId, token }),
    );
    expect(await refusals(accepted)).toEqual(["NOT_FOUND", "NOT_FOUND", "NOT_FOUND"]);
    expect(Object.values(await rolesOf(maker, id)).sort()).toEqual(["owner", "runner"]);
  });

  it("end by time and by withdrawal, and are stored hashed", async () => {
    const maker = await newUser(one.client);
    const id = await make(maker);
    const person = { personId: (await newUser(one.client)).id };
    const made = await one.organizations.createInvitation({
      personId: maker.id,
      organizationId: id,
      role: "viewer",
      email: " Ada@Example.com ",
    });
    expect(made.invitation).toMatchObject({ role: "viewer", email: "ada@example.com" });
    expect(made.invitation!.expiresAt!.getTime() - made.invitation!.createdAt!.getTime()).toBe(7 * DAY_MS);
    const stored = await deployment.database.collection<{ _id: string }>("organizations").findOne({ _id: id });
    expect(JSON.stringify(stored)).not.toContain(made.token.split(".")[1]);
    const withdrawn = { personId: maker.id, organizationId: id, invitationId: made.invitation!.id };
    await one.organizations.deleteInvitation(withdrawn);
    expect((await refusal(one.organizations.acceptInvitation({ ...person, token: made.token }))).reason).toBe("NOT_FOUND");

    const late = await invite(maker, id);
    const past = { $set: { "invitations.0.expiresAt": new Date(Date.now() - 1) } };
    await deployment.database.collection<{ _id: string }>("organizations").updateOne({ _id: id }, past);
    expect((await refusal(one.organizations.acceptInvitation({ ...person, token: late }))).reason).toBe("NOT_FOUND");
    expect((await one.organizations.listInvitations({ personId: maker.id, organizationId: id })).invitations).toEqual([]);
  });

  it("make no member twice, and stay for somebody else then", async () => {
    const maker = await newUser(one.client);
    const id = await make(maker);
    const token = await invite(maker, id);
    expect((await refusal(one.organizations.acceptInvitation({ personId: maker.id, token }))).reason).toBe("ALREADY_EXISTS");
    await one.organizations.acceptInvitation({ personId: (await newUser(one.client)).id, token });
  });
});

describe("keys of organizations", () => {
  const keyOf = (maker: identity.User, organizationId: string) =>
    createKey(one.client, organizationId, { madeBy: maker.id, preset: "full-deploy" });
  /** What the other instance says of a key's value. */
  const standing = (value: string): Promise<string> =>
    other.client.authenticateKey({ value }).then(
      () => "admitted",
      ({ reason }: { reason: string }) => reason,
    );

  it("act for the organization within the role that their maker has now", async () => {
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

  it("end when their maker leaves, and stay ended when the maker comes back", async () => {
    const owner = await newUser(one.client, PRO);
    const id = await make(owner);
    const maker = await join(owner, id, "editor");
    const { value, key } = await keyOf(maker, id);
    await other.client.authenticateKey({ value });
    // As a crash between the member and the keys would leave it.
    const kept = await deployment.database.collection<{ _id: string }>("keys").findOne({ _id: key!.id });
    await one.organizations.removeMember({ personId: maker.id, organizationId: id, userId: maker.id });
    await deployment.database.collection<{ _id: string }>("keys").insertOne(kept!);
    await eventually(async () => (await standing(value)) === "UNAUTHENTICATED");
    expect((await one.client.listKeys({ userId: id })).keys).toEqual([]);

    const token = await invite(owner, id, "owner");
    await one.organizations.acceptInvitation({ personId: maker.id, token });
    expect(await standing(value)).toBe("UNAUTHENTICATED");
  });

  it("end with their maker's suspension and approval, and not with others'", async () => {
    const owner = await newUser(one.client, PRO);
    const id = await make(owner);
    const [maker, colleague] = [await join(owner, id), await join(owner, id)];
    const { value } = await keyOf(maker, id);
    await one.client.updateUser({ userId: colleague.id, suspended: true });
    expect(await standing(value)).toBe("admitted");
    await one.client.updateUser({ userId: maker.id, suspended: true });
    await eventually(async () => (await standing(value)) === "ACCOUNT_SUSPENDED");
    await one.client.updateUser({ userId: maker.id, suspended: false });
    await eventually(async () => (await standing(value)) === "admitted");
    await one.client.updateUser({ userId: maker.id, approved: false });
    await eventually(async () => (await standing(value)) === "UNAUTHENTICATED");
    expect((await one.client.listKeys({ userId: id })).keys).toEqual([]);
  });

  it("are changed by their maker alone where the request says so", async () => {
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

  it("never have what an administrator has", async () => {
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
  const meant: Record<string, string[]> = {};
  for (let { stop } = await one.client.claimRunStop({}); stop; { stop } = await one.client.claimRunStop({}))
    meant[stop.userId] = [...stop.organizationIds].sort();
  expect(meant).toMatchObject({ [maker.id]: [...ids].sort(), [member.id]: [] });
});
