import { randomBytes, randomUUID } from "node:crypto";
import { createEgressClient, createLogger, hostAndPort, type EgressClient } from "@nodeloom/platform";
import { Secret, TOTP } from "otpauth";
import { createIdentity } from "../../src/identity";
import type { OidcSettings } from "../../src/oidc/settings";
import type { UserRecord } from "../../src/records";
import type { Identity } from "../../src/server/identity";
import { createStore } from "../../src/store";
import { deploy, PASSWORD, PEPPER, refusal, type Deployment } from "../support";
import { browse, startProvider, type Person, type TestProvider } from "../../../../test-support/oidc-provider";

const HOME = "198.51.100.7";
const REDIRECT = "http://nodeloom.test/api/auth/oidc/callback";
const MINUTE = 60_000;
const PAST = { iat: 1_000_000_000, exp: 1_000_000_300 };

let deployment: Deployment;
let provider: TestProvider;
let egress: EgressClient;
let now = Date.now();
let identity: Identity;
const secretsKeys = [randomBytes(32).toString("hex")];

/** Starts the service over one database with settings for the provider. */
const startWith = (settings: Partial<OidcSettings> | undefined): Promise<Identity> => {
  const { issuer, clientId, clientSecret } = provider;
  const oidcSettings = { issuer, clientId, clientSecret, name: "Example", scopes: ["openid", "email", "profile"], allowedDomains: [] };
  return createIdentity({
    store: createStore(deployment.database),
    changes: { announce: () => Promise.resolve(), onChange: () => undefined },
    pepper: PEPPER,
    secretsKeys,
    environment: "test",
    addressProblem: () => Promise.resolve(undefined),
    logger: createLogger("identity-test", "silent"),
    oidc: settings && { egress, settings: { ...oidcSettings, approves: false, admins: [], tiers: [], ...settings } },
    clock: () => now,
  });
};

beforeAll(async () => {
  [deployment, provider] = await Promise.all([deploy(), startProvider()]);
  egress = createEgressClient({ ownServers: [hostAndPort(provider.issuer)] });
  identity = await startWith({});
});
afterAll(async () => {
  await Promise.all([provider.stop(), egress.close()]);
  await deployment.stop();
});

const someone = (claims: Record<string, unknown> = {}): Person & { email: string } => {
  const email = `${randomUUID()}@example.com`;
  return { sub: randomUUID(), email, claims: { email, email_verified: true, ...claims } };
};
/** Starts a sign-in and completes it at the provider as a person. */
const visit = async (person: Person, startedSignIn?: { url: string; browser: string }) => {
  await provider.become(person);
  const { url, browser } = startedSignIn ?? (await identity.oidc.start({ redirectUri: REDIRECT, returnTo: "/workflows" }));
  return { url: await browse(url, REDIRECT), browser, address: HOME };
};
const signIn = async (person: Person, service = identity) => service.oidc.finish(await visit(person));
const problem = async (call: Promise<unknown>): Promise<unknown> => (await refusal(call)).metadata.problem;
const stored = (email: string): Promise<UserRecord | null> => deployment.database.collection<UserRecord>("users").findOne({ email });
const login = (email: string) => identity.signIn.login({ email, password: PASSWORD, address: HOME });
const register = (email: string) => identity.signIn.register({ email, password: PASSWORD, address: HOME });

describe("a sign-in by the provider", () => {
  it("creates an account for a verified address, without a password, which awaits approval", async () => {
    const person = someone();
    const { returnTo, account, pending } = await signIn(person);
    expect({ returnTo, pending }).toEqual({ returnTo: "/workflows", pending: undefined });
    expect(account?.after).toMatchObject({ email: person.email, role: "user", tier: "free", approved: false });
    expect(await refusal(login(person.email))).toMatchObject({ reason: "UNAUTHENTICATED" });
  });

  it("belongs to the subject, whatever address the provider reports later", async () => {
    const [person, other] = [someone(), someone()];
    const { account } = await signIn(person);
    const again = await signIn({ ...person, claims: { ...other.claims } });
    expect(again.account?.after).toMatchObject({ id: account?.after.id, email: person.email });
    expect(await stored(other.email)).toBeNull();
  });

  it("accepts a token that is newly signed with the provider's key: the tokens below differ in one point each", async () => {
    expect((await signIn({ ...someone(), token: {} })).account).toBeDefined();
  });

  it.each<[string, Partial<Person>]>([
    ["nonce", { token: { nonce: "another" } }],
    ["issuer", { token: { iss: "https://evil.example" } }],
    ["audience", { token: { aud: "another client" } }],
    ["subject", { token: { sub: "another person" } }],
    ["time: it has expired", { token: PAST }],
    ["signature", { otherKey: true }],
  ])("is rejected if the token has the wrong %s", async (_what, wrong) => {
    const person = someone();
    expect(await problem(signIn({ ...person, ...wrong }))).toBe("answer");
    expect(await stored(person.email)).toBeNull();
  });

  it.each([{ email_verified: false }, { email_verified: "true" }, { email_verified: undefined }, { email: undefined }])(
    "creates and links nothing for %j",
    async (claims) => {
      const person = someone(claims);
      const { id } = await register(person.email);
      expect(await problem(signIn(person))).toBe("unverified");
      expect(await login(person.email)).toHaveProperty("user.id", id);
    },
  );

  it("returns once, in the browser that started it, within ten minutes, with a known state", async () => {
    const finish = (back: { url: string; browser: string }) => identity.oidc.finish({ ...back, address: HOME });
    const used = await visit(someone());
    await finish(used);
    expect(await problem(finish(used))).toBe("state");
    const [one, other] = [await visit(someone()), await visit(someone())];
    expect(await problem(finish({ url: one.url, browser: other.browser }))).toBe("state");
    expect(await problem(finish({ url: other.url, browser: "" }))).toBe("state");
    expect(await problem(finish({ url: `${REDIRECT}?code=x&state=unknown`, browser: one.browser }))).toBe("state");
    const late = await visit(someone());
    now += 10 * MINUTE;
    expect(await problem(finish(late))).toBe("state");
  });

  it("that the provider rejected is not a sign-in", async () => {
    const { url, browser } = await identity.oidc.start({ redirectUri: REDIRECT, returnTo: "/" });
    const back = new URLSearchParams({ error: "access_denied", state: new URL(url).searchParams.get("state")!, iss: provider.issuer });
    expect(await problem(identity.oidc.finish({ url: `${REDIRECT}?${back.toString()}`, browser, address: HOME }))).toBe("denied");
  });

  it("ends for a suspended account", async () => {
    const person = someone();
    const { account } = await signIn(person);
    await identity.users.update(account!.after.id, { suspended: true });
    expect(await refusal(signIn(person))).toMatchObject({ reason: "ACCOUNT_SUSPENDED" });
  });
});

describe("an account with the same address", () => {
  it("that was never verified loses its password, its sessions and its keys", async () => {
    const person = someone();
    const { id, sessionEpoch } = await register(person.email);
    await identity.users.update(id, { approved: true, tier: "pro" });
    const { value } = await identity.keys.create(id, {
      name: "squatter",
      preset: "read-only",
      capabilities: [],
      expiresAt: undefined,
      webhook: undefined,
    });
    expect((await signIn(person)).account?.after).toMatchObject({ id, tier: "pro" });
    expect((await stored(person.email))!.sessionEpoch).toBeGreaterThan(sessionEpoch);
    expect(await deployment.database.collection("keys").countDocuments({ userId: id })).toBe(0);
    expect(await refusal(login(person.email))).toMatchObject({ reason: "UNAUTHENTICATED" });
    expect(await refusal((await startWith({})).authentication.authenticate(value))).toMatchObject({ reason: "UNAUTHENTICATED" });
  });

  it("that was verified keeps its password and is linked", async () => {
    const person = someone();
    await identity.bootstrap.ensureAdmin(person.email, PASSWORD);
    expect((await signIn(person)).account?.after).toMatchObject({ email: person.email, role: "admin" });
    expect(await login(person.email)).toHaveProperty("user.role", "admin");
  });

  it("that belongs to another subject isn't given to the next one with the address", async () => {
    const person = someone();
    await signIn(person);
    expect(await problem(signIn({ ...person, sub: randomUUID() }))).toBe("taken");
  });

  it("is created once if its owner signs in from two windows at once", async () => {
    const person = someone();
    const visits = [await visit(person), await visit(person)];
    const [one, two] = await Promise.all(visits.map((back) => identity.oidc.finish(back)));
    expect(one?.account?.after.id).toBe(two?.account?.after.id);
  });
});

describe("linking by a signed-in user", () => {
  const startLink = (userId: string, password = PASSWORD) =>
    identity.oidc.startLink({ redirectUri: REDIRECT, returnTo: "/account", userId, password, address: HOME });

  it("needs the password, and no address: from then on the provider's person signs in to the account", async () => {
    const [person, { id, email }] = [someone(), await register(someone().email)];
    expect(await refusal(startLink(id, "not the password"))).toMatchObject({ reason: "UNAUTHENTICATED" });
    const linked = await identity.oidc.finish(await visit(person, await startLink(id)));
    expect(linked).toEqual({ returnTo: "/account", account: undefined, pending: undefined, linkedUserId: id });
    expect((await signIn(person)).account?.after).toMatchObject({ id, email });
    expect(await login(email)).toHaveProperty("user.id", id);
    await identity.oidc.unlink({ userId: id, password: PASSWORD, address: HOME });
    expect((await signIn(person)).account?.after.email).toBe(person.email);
  });

  it("confirms the account's address only if the provider has verified it", async () => {
    for (const claims of [{ email_verified: false }, { email: `${randomUUID()}@example.com` }]) {
      const person = someone();
      const { id } = await register(person.email);
      await identity.oidc.finish(await visit({ ...person, claims: { ...person.claims, ...claims } }, await startLink(id)));
      expect((await stored(person.email))!.emailVerifiedAt).toBeNull();
    }
  });

  it("ends with the session, and never returns another account's data", async () => {
    const [person, { id }] = [someone(), await register(someone().email)];
    const back = await visit(person, await startLink(id));
    await identity.passwordChanges.endSessions(id);
    expect(await problem(identity.oidc.finish(back))).toBe("state");
    await signIn(person);
    expect(await problem(identity.oidc.finish(await visit(person, await startLink(id))))).toBe("taken");
  });

  it("never links the configured administrator's account, even if its address was linked before", async () => {
    const [person, { id, email }] = [someone(), await register(someone().email)];
    await identity.oidc.finish(await visit(person, await startLink(id)));
    await identity.bootstrap.ensureAdmin(email, "another fine password");
    expect((await signIn(person)).account?.after).toMatchObject({ email: person.email, role: "user" });
  });

  it("keeps a second factor, which a sign-in by the provider also requires", async () => {
    const person = someone();
    const { id } = await register(person.email);
    const { secret } = await identity.secondFactors.enrol({ userId: id, password: PASSWORD, address: HOME });
    const code = (): string => new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: now });
    await identity.secondFactors.confirm(id, code());
    await identity.oidc.finish(await visit(person, await startLink(id)));
    const { pending } = await signIn(person);
    now += MINUTE;
    expect(await refusal(identity.pendingSignIns.complete({ token: pending!.token, code: "000000", address: HOME }))).toBeDefined();
    expect(await identity.pendingSignIns.complete({ token: pending!.token, code: code(), address: HOME })).toMatchObject({ id });
  });
});

describe("the operator's settings for the provider", () => {
  it("reject addresses of other domains", async () => {
    const service = await startWith({ allowedDomains: ["nodeloom.test"] });
    expect(await problem(signIn(someone(), service))).toBe("domain");
    expect((await signIn(someone({ email: `${randomUUID()}@nodeloom.test` }), service)).account).toBeDefined();
    const { id: userId } = await register(someone().email);
    const link = { redirectUri: REDIRECT, returnTo: "/account", userId, password: PASSWORD, address: HOME };
    expect(await problem(service.oidc.finish(await visit(someone(), await service.oidc.startLink(link))))).toBe("domain");
  });

  it("make administrators and give tiers by claims, and withdraw a role that they gave", async () => {
    const rules = { admins: [{ claim: "groups", value: "admins" }], tiers: [{ claim: "groups", value: "film", tier: "business" }] };
    const service = await startWith({ ...rules, approves: true });
    const person = someone({ groups: ["admins", "film"] });
    const { account } = await signIn(person, service);
    expect(account).toMatchObject({ before: { role: "user", tier: "free" }, after: { role: "admin", tier: "business", approved: true } });
    const without = await signIn({ ...person, claims: { ...person.claims, groups: [] } }, service);
    expect(without.account?.after).toMatchObject({ role: "user", tier: "business" });
  });

  it("keep roles that they didn't give, and make administrators only if the settings say so", async () => {
    const service = await startWith({ admins: [{ claim: "groups", value: "admins" }] });
    const person = someone({ groups: ["admins"] });
    expect((await signIn(person)).account?.after.role).toBe("user");
    const other = someone();
    const { account } = await signIn(other, service);
    await identity.users.update(account!.after.id, { role: "admin" });
    expect((await signIn(other, service)).account?.after.role).toBe("admin");
  });

  it("are absent: signing in with a provider then fails, and the error names the setting", async () => {
    const service = await startWith(undefined);
    expect(service.oidc.name).toBeUndefined();
    expect(await refusal(service.oidc.start({ redirectUri: REDIRECT, returnTo: "/" }))).toMatchObject({
      reason: "NOT_CONFIGURED",
      message: expect.stringContaining("OIDC_ISSUER") as string,
    });
  });

  it("name an unavailable provider: the error reports it, and the next sign-in tries again", async () => {
    const away = await startWith({ issuer: "http://127.0.0.1:9" });
    const start = () => refusal(away.oidc.start({ redirectUri: REDIRECT, returnTo: "/" }));
    expect(await start()).toMatchObject({ reason: "SERVICE_UNAVAILABLE", metadata: { problem: "away" } });
    expect(await start()).toMatchObject({ metadata: { problem: "away" } });
  });
});
