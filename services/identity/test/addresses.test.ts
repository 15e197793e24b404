import { randomUUID } from "node:crypto";
import { ORGANIZATION_BOUNDS } from "@nodeloom/kernel";
import { createLogger } from "@nodeloom/platform";
import { createIdentity } from "../src/identity";
import type { UserRecord } from "../src/records";
import type { Identity } from "../src/server/identity";
import { createStore, type Store } from "../src/store";
import { deploy, PASSWORD, PEPPER, refusal, type Deployment } from "./support";

const HOME = "198.51.100.7";
const NEXT = "a loom of many colours";
const HOUR = 3_600_000;
const UNAUTHENTICATED = { reason: "UNAUTHENTICATED" };

let deployment: Deployment;
let store: Store;
let identity: Identity;
let now = Date.now();
beforeAll(async () => {
  deployment = await deploy();
  store = createStore(deployment.database);
  identity = await createIdentity({
    store,
    changes: { announce: () => Promise.resolve(), onChange: () => undefined },
    pepper: PEPPER,
    secretsKeys: ["ab".repeat(32)],
    environment: "test",
    addressProblem: () => Promise.resolve(undefined),
    logger: createLogger("identity-test", "silent"),
    clock: () => now,
  });
});
afterAll(() => deployment.stop());

const register = async (): Promise<{ id: string; email: string }> =>
  identity.signIn.register({ email: `${randomUUID()}@example.com`, password: PASSWORD, address: HOME });
const stored = async (id: string): Promise<UserRecord> => (await deployment.database.collection<UserRecord>("users").findOne({ _id: id }))!;
const change = (id: string, $set: Partial<UserRecord>) =>
  deployment.database.collection<UserRecord>("users").updateOne({ _id: id }, { $set });
const redeem = (token: string, next = NEXT) => identity.passwordChanges.redeemReset({ token, next, address: HOME });

/** An account with a key and a provider link, as a person could create it without access to its email address. */
const used = async (): Promise<{ id: string; email: string; value: string }> => {
  const { id, email } = await register();
  await identity.users.update(id, { approved: true, tier: "pro" });
  const { value } = await identity.keys.create(id, {
    ...{ name: "a key", preset: "workflow-deploy", capabilities: [] },
    ...{ expiresAt: undefined, webhook: undefined },
  });
  await store.oidc.link({ _id: randomUUID(), issuer: "i", subject: id, userId: id, linkedAt: new Date(), admin: false });
  return { id, email, value };
};

const stands = (owner: string, grant: { personId: string; at: Date }): Promise<void> =>
  expect(identity.earlierAccess.require(owner, grant)).resolves.toBeUndefined();

describe("a mailed reset", () => {
  it("works for accounts with a password that aren't suspended, and for no other address", async () => {
    const { id, email } = await register();
    expect(await identity.addresses.createReset(` ${email.toUpperCase()}`)).toMatchObject({ email });
    expect(await identity.addresses.createReset("nobody@example.com")).toBeNull();
    await change(id, { suspended: true });
    expect(await identity.addresses.createReset(email)).toBeNull();
    await change(id, { suspended: false, passwordHash: "none" });
    expect(await identity.addresses.createReset(email)).toBeNull();
  });

  it("works once of two concurrent uses, and leaves no token in the database", async () => {
    const { id, email } = await register();
    const { token } = (await identity.addresses.createReset(email))!;
    expect(JSON.stringify(await stored(id))).not.toContain(token.split(".")[1]);
    const results = await Promise.allSettled([redeem(token), redeem(token, `${NEXT}!`)]);
    expect(results.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(await refusal(redeem(token))).toMatchObject(UNAUTHENTICATED);
  });

  it("confirms an unconfirmed address and removes resources that another person may have created; the second factor stays", async () => {
    const { id, email, value } = await used();
    const secondFactor = { id: "s", keyId: "k", sealed: "", confirmedAt: new Date(), lastStep: 0, recoveryCodes: [] };
    await change(id, { secondFactor });
    await redeem((await identity.addresses.createReset(email))!.token);
    expect(await stored(id)).toMatchObject({ emailVerifiedAt: new Date(now), sessionEpoch: 1, secondFactor: { id: "s" } });
    expect(await store.oidc.findOfUser(id)).toBeNull();
    expect(await refusal(identity.authentication.authenticate(value))).toMatchObject(UNAUTHENTICATED);
  });

  it("ends hooks and schedules, invitations and admitted members of the person who registered the address before", async () => {
    const { id, email } = await used();
    const [admitted, byThem] = [await used(), await used()];
    const { organization } = await identity.organizations.create(id, "Looms");
    const invite = (by: string, role: string) => identity.invitations.create(by, organization._id, { role, email: "" });
    await identity.invitations.accept(admitted.id, (await invite(id, "owner")).token);
    await identity.invitations.accept(byThem.id, (await invite(admitted.id, "editor")).token);
    const open = (await invite(id, "viewer")).token;
    const before = { personId: id, at: new Date(now - 1) };
    for (const owner of [id, organization._id]) await stands(owner, { personId: id, at: new Date(Math.max(now, Date.now()) + 1) });
    await redeem((await identity.addresses.createReset(email))!.token);
    for (const owner of [id, organization._id])
      expect(await refusal(identity.earlierAccess.require(owner, before))).toMatchObject(UNAUTHENTICATED);
    expect((await identity.organizations.members(id, organization._id)).map(({ personId }) => personId)).toEqual([id]);
    expect(await refusal(identity.invitations.check(open))).toMatchObject({ reason: "NOT_FOUND" });
    await stands(id, { personId: id, at: new Date(now + 1) });
  });

  it("and signing out everywhere end resources created by sessions, and keep members; so does leaving an organization", async () => {
    const [owner, editor] = [await used(), await used()];
    const { organization } = await identity.organizations.create(owner.id, "Looms");
    const invite = () => identity.invitations.create(owner.id, organization._id, { role: "editor", email: "" });
    await identity.invitations.accept(editor.id, (await invite()).token);
    const open = (await invite()).token;
    const [at, later] = [new Date(now - 1), new Date(Date.now() + 1_000)];
    await identity.passwordChanges.endSessions(owner.id);
    expect(await refusal(identity.earlierAccess.require(owner.id, { personId: owner.id, at }))).toMatchObject(UNAUTHENTICATED);
    expect(await refusal(identity.invitations.check(open))).toMatchObject({ reason: "NOT_FOUND" });
    expect(await identity.organizations.members(owner.id, organization._id)).toHaveLength(2);
    await stands(organization._id, { personId: editor.id, at: later });
    await identity.organizations.removeMember(owner.id, organization._id, editor.id);
    expect(await refusal(identity.earlierAccess.require(organization._id, { personId: editor.id, at: later }))).toMatchObject(
      UNAUTHENTICATED,
    );
  });

  it("of a confirmed address, or by an administrator's link, keeps the keys", async () => {
    const proven = await used();
    await change(proven.id, { emailVerifiedAt: new Date(0) });
    await redeem((await identity.addresses.createReset(proven.email))!.token);
    const passedOn = await used();
    await redeem((await identity.passwordChanges.createReset(passedOn.id)).token);
    for (const { value } of [proven, passedOn]) await expect(identity.authentication.authenticate(value)).resolves.toBeDefined();
    expect(await stored(passedOn.id)).toMatchObject({ emailVerifiedAt: null });
  });
});

describe("confirming an address", () => {
  it("accepts the newest link, in a session of its own account, within a day; a second click changes nothing", async () => {
    const [one, other] = [await register(), await register()];
    const first = (await identity.addresses.createVerification(one.id))!.token;
    const { token } = (await identity.addresses.createVerification(one.id))!;
    for (const attempt of [identity.addresses.verify(other.id, token), identity.addresses.verify(one.id, first)]) {
      expect(await refusal(attempt)).toMatchObject(UNAUTHENTICATED);
    }
    await identity.addresses.verify(one.id, token);
    await identity.addresses.verify(one.id, token);
    expect(await identity.addresses.get(one.id)).toMatchObject({ verifiedAt: new Date(now) });
    expect(await identity.addresses.createVerification(one.id)).toBeNull();

    const late = (await identity.addresses.createVerification(other.id))!.token;
    now += 24 * HOUR;
    expect(await refusal(identity.addresses.verify(other.id, late))).toMatchObject(UNAUTHENTICATED);
    // A link works only for its own purpose.
    const reset = (await identity.addresses.createReset(other.email))!.token;
    expect(await refusal(identity.addresses.verify(other.id, reset))).toMatchObject(UNAUTHENTICATED);
  });
});

it("for an account are its person's, or those of an organization's owners up to a limit", async () => {
  const { id } = await register();
  await identity.users.update(id, { approved: true });
  expect(await identity.addresses.owners(id)).toEqual({ userIds: [id], organizationName: "" });
  const { organization } = await identity.organizations.create(id, "Loom Works");
  const others = Array.from({ length: ORGANIZATION_BOUNDS.mailedOwners + 2 }, () => randomUUID());
  const members = others.map((personId, index) => ({
    personId,
    role: index === 0 ? ("viewer" as const) : ("owner" as const),
    since: new Date(),
  }));
  await store.organizations.change(organization, { members: [...organization.members, ...members] });
  const { userIds, organizationName } = await identity.addresses.owners(organization._id);
  expect([userIds, organizationName]).toEqual([[id, ...others.slice(1, ORGANIZATION_BOUNDS.mailedOwners)], "Loom Works"]);
  await expect(identity.addresses.owners(randomUUID())).rejects.toMatchObject({ reason: "NOT_FOUND" });
});

describe("notices", () => {
  it("are switched separately, at once, by the user and by the link of that notice only", async () => {
    const { id } = await register();
    await Promise.all([identity.addresses.mute(id, { lowCredits: true }), identity.addresses.mute(id, { budgetAlerts: true })]);
    expect((await identity.addresses.get(id)).mutedNotices).toEqual(["lowCredits", "budgetAlerts"]);
    expect(await identity.addresses.mute(id, { budgetAlerts: false })).toEqual(["lowCredits"]);
    const tokens = (await identity.addresses.get(id)).unsubscribeTokens;
    await identity.addresses.mute(id, { lowCredits: false });
    expect(await identity.addresses.unsubscribe(tokens.lowCredits!)).toBe("lowCredits");
    expect((await identity.addresses.get(id)).mutedNotices).toEqual(["lowCredits"]);
    for (const forged of [tokens.lowCredits!.replace("lowCredits", "budgetAlerts"), `${id}.lowCredits.${"0".repeat(64)}`, "x"]) {
      expect(await refusal(identity.addresses.unsubscribe(forged))).toMatchObject(UNAUTHENTICATED);
    }
  });
});
