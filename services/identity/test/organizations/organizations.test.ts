import { randomUUID } from "node:crypto";
import { ORGANIZATION_BOUNDS, USUAL_CAPS } from "@nodeloom/kernel";
import type { identity } from "@nodeloom/proto";
import type { OrganizationRecord } from "../../src/organizations/records";
import { deploy, newUser, refusal, type Deployment, type Instance } from "../support";
import { peopleAt, refusals } from "./people";

let deployment: Deployment;
let one: Instance;
let other: Instance;
const DAY_MS = 24 * 60 * 60 * 1_000;

beforeAll(async () => {
  deployment = await deploy();
  [one, other] = await Promise.all([deployment.startInstance(), deployment.startInstance()]);
});
afterAll(() => deployment.stop());

const { make, invite, join, rolesOf } = peopleAt(() => one);

describe("organizations", () => {
  it("have the tier and the approval of their creator, an id like every owner, and no personal data", async () => {
    const maker = await newUser(one.client, { tier: "business", role: "admin" });
    const id = await make(maker);
    const { user } = await one.client.getUser({ userId: id });
    expect(user).toMatchObject({ id, tier: "business", approved: true, role: "user", email: "", suspended: false });
    expect(user!.plan).toMatchObject({ base: "business", monthlyMillicredits: 0, concurrency: 50 });
    expect(user!.organization).toEqual({ name: "Loom Works", tierOf: maker.id });
    await one.client.updateUser({ userId: maker.id, suspended: true });
    expect((await one.client.getUser({ userId: id })).user!.suspended).toBe(true);
    await one.client.updateUser({ userId: maker.id, suspended: false });
    await deployment.database.collection<{ _id: string }>("users").deleteOne({ _id: maker.id });
    expect((await one.client.getUser({ userId: id })).user).toMatchObject({ suspended: true, approved: false });
  });

  it("are limited per person, also in parallel, and created only by approved people", async () => {
    const maker = await newUser(one.client);
    const created = await refusals(Array.from({ length: USUAL_CAPS.organizations + 3 }, () => make(maker)));
    expect(created).toEqual(["PRECONDITION_FAILED", "PRECONDITION_FAILED", "PRECONDITION_FAILED"]);
    const { memberships } = await one.organizations.listOrganizations({ personId: maker.id });
    expect(memberships).toHaveLength(USUAL_CAPS.organizations);
    await one.client.updateUser({ userId: maker.id, approved: false });
    expect((await refusal(make(maker))).reason).toBe("ACCOUNT_NOT_APPROVED");
  });

  it("don't exist for other accounts", async () => {
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
      one.organizations.deleteInvitation({ ...which, invitationId: id }),
    ];
    expect(await refusals(attempts)).toEqual(attempts.map(() => "NOT_FOUND"));
  });

  it("let members act as far as their role allows", async () => {
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
        one.organizations.deleteInvitation({ ...which, invitationId: id }),
      ];
      expect(await refusals(attempts)).toEqual(attempts.map(() => "CAPABILITY_DENIED"));
    }
    const unknown = { personId: maker.id, organizationId: id, userId: randomUUID() };
    const ofNobody = [one.organizations.changeMember({ ...unknown, role: "owner" }), one.organizations.removeMember(unknown)];
    expect(await refusals(ofNobody)).toEqual(["NOT_FOUND", "NOT_FOUND"]);
  });

  it("accept no members, invitations and memberships beyond their limits", async () => {
    const [maker, guest] = [await newUser(one.client), await newUser(one.client)];
    const id = await make(maker);
    const stored = deployment.database.collection<OrganizationRecord>("organizations");
    const token = await invite(maker, id);
    const at = new Date();
    const filled = (most: number) =>
      Array.from({ length: most - 1 }, () => ({ personId: randomUUID(), role: "viewer" as const, since: at }));
    await stored.updateOne({ _id: id }, { $push: { members: { $each: filled(ORGANIZATION_BOUNDS.members) } } });
    const accepting = () => refusal(one.organizations.acceptInvitation({ personId: guest.id, token }));
    expect(await accepting()).toMatchObject({ reason: "PRECONDITION_FAILED", metadata: { limit: 100 } });

    const [open] = (await stored.findOne({ _id: id }))!.invitations;
    const more = Array.from({ length: ORGANIZATION_BOUNDS.invitations - 1 }, () => ({ ...open!, id: randomUUID() }));
    await stored.updateOne({ _id: id }, { $push: { invitations: { $each: more } } });
    expect(await refusal(invite(maker, id))).toMatchObject({ reason: "PRECONDITION_FAILED", metadata: { limit: 100 } });

    await stored.updateOne({ _id: id }, { $set: { members: [{ personId: maker.id, role: "owner", since: at }] } });
    const template = (await stored.findOne({ _id: id }))!;
    const others = Array.from({ length: ORGANIZATION_BOUNDS.memberships }, () => randomUUID());
    await stored.insertMany(others.map((other) => ({ ...template, _id: other, place: other, memberIds: [guest.id] })));
    expect(await accepting()).toMatchObject({ reason: "PRECONDITION_FAILED", metadata: { limit: 50 } });
    expect(await refusal(make(guest))).toMatchObject({ reason: "PRECONDITION_FAILED", metadata: { limit: 50 } });
    await stored.deleteMany({ _id: { $in: others } });
  });
});

describe("owners", () => {
  it("always keep an owner, however many leave at once", async () => {
    const maker = await newUser(one.client);
    const id = await make(maker);
    const second = await join(maker, id, "owner");
    const leave = ({ id: personId }: identity.User, instance: Instance) =>
      instance.organizations.removeMember({ personId, organizationId: id, userId: personId });
    expect(await refusals([leave(maker, one), leave(second, other)])).toEqual(["PRECONDITION_FAILED"]);
    const { organizations: remaining } = await one.organizations.listAllOrganizations({
      query: "",
      limit: 500,
      cursor: "",
      tierOf: undefined,
    });
    expect(remaining.find((organization) => organization.id === id)!.members).toBe(1);
  });

  it("pass the tier on when its creator is no longer an owner, and end their invitations with the role", async () => {
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
    // The person whose tier applies changes only when necessary.
    await one.organizations.changeMember({ personId: second.id, organizationId: id, userId: maker.id, role: "owner" });
    expect((await one.client.getUser({ userId: id })).user!.organization).toMatchObject({ tierOf: second.id });
  });

  it("can be created again for each one that the person has left", async () => {
    const maker = await newUser(one.client);
    const ids = await Promise.all(Array.from({ length: USUAL_CAPS.organizations }, () => make(maker)));
    const second = await join(maker, ids[0]!, "owner");
    await one.organizations.changeMember({ personId: second.id, organizationId: ids[0]!, userId: maker.id, role: "viewer" });
    expect((await refusal(make(maker))).metadata).toMatchObject({ limit: 5 });
    await one.organizations.removeMember({ personId: maker.id, organizationId: ids[0]!, userId: maker.id });
    await make(maker);
  });
});

describe("invitations", () => {
  it("work once, however many people use them at once", async () => {
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

  it("expire and can be withdrawn, and are stored hashed", async () => {
    const maker = await newUser(one.client);
    const id = await make(maker);
    const person = { personId: (await newUser(one.client)).id };
    const reply = await one.organizations.createInvitation({
      personId: maker.id,
      organizationId: id,
      role: "viewer",
      email: " Ada@Example.com ",
    });
    expect(reply.invitation).toMatchObject({ role: "viewer", email: "ada@example.com" });
    expect(reply.invitation!.expiresAt!.getTime() - reply.invitation!.createdAt!.getTime()).toBe(7 * DAY_MS);
    const stored = await deployment.database.collection<{ _id: string }>("organizations").findOne({ _id: id });
    expect(JSON.stringify(stored)).not.toContain(reply.token.split(".")[1]);
    const withdrawn = { personId: maker.id, organizationId: id, invitationId: reply.invitation!.id };
    await one.organizations.deleteInvitation(withdrawn);
    expect((await refusal(one.organizations.acceptInvitation({ ...person, token: reply.token }))).reason).toBe("NOT_FOUND");

    const late = await invite(maker, id);
    const past = { $set: { "invitations.0.expiresAt": new Date(Date.now() - 1) } };
    await deployment.database.collection<{ _id: string }>("organizations").updateOne({ _id: id }, past);
    expect((await refusal(one.organizations.acceptInvitation({ ...person, token: late }))).reason).toBe("NOT_FOUND");
    expect((await one.organizations.listInvitations({ personId: maker.id, organizationId: id })).invitations).toEqual([]);
  });

  it("work only for approved people", async () => {
    const maker = await newUser(one.client);
    const token = await invite(maker, await make(maker));
    const person = await newUser(one.client);
    await one.client.updateUser({ userId: person.id, approved: false });
    expect((await refusal(one.organizations.acceptInvitation({ personId: person.id, token }))).reason).toBe("ACCOUNT_NOT_APPROVED");
  });

  it("add no member twice, and then stay valid for another person", async () => {
    const maker = await newUser(one.client);
    const id = await make(maker);
    const token = await invite(maker, id);
    expect((await refusal(one.organizations.acceptInvitation({ personId: maker.id, token }))).reason).toBe("ALREADY_EXISTS");
    await one.organizations.acceptInvitation({ personId: (await newUser(one.client)).id, token });
  });
});
