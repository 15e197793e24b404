import { randomBytes, randomUUID } from "node:crypto";
import { createLogger } from "@nodeloom/platform";
import { Secret, TOTP } from "otpauth";
import { createIdentity } from "../../src/identity";
import type { UserRecord } from "../../src/records";
import { createStore } from "../../src/store";
import type { Identity } from "../../src/server/identity";
import { deploy, PASSWORD, PEPPER, refusal, type Deployment } from "../support";

const HOME = "198.51.100.7";
const ELSEWHERE = "203.0.113.9";
const MINUTE = 60_000;
const STEP = 30_000;
const NEXT = "a loom of many colours";
const [OLD, NEW] = [randomBytes(32).toString("hex"), randomBytes(32).toString("hex")];

let deployment: Deployment;
let now = Date.now();
/** The service over one database with the given encryption keys. */
let startWith: (secretsKeys: readonly string[]) => Promise<Identity>;
let identity: Identity;
beforeAll(async () => {
  deployment = await deploy();
  const changes = { announce: () => Promise.resolve(), onChange: () => undefined };
  startWith = (secretsKeys) =>
    createIdentity({
      store: createStore(deployment.database),
      changes,
      pepper: PEPPER,
      secretsKeys,
      environment: "test",
      addressProblem: () => Promise.resolve(undefined),
      logger: createLogger("identity-test", "silent"),
      clock: () => now,
    });
  identity = await startWith([OLD]);
});
afterAll(() => deployment.stop());

interface Account {
  id: string;
  email: string;
  secret: string;
  recoveryCodes: string[];
}
const codeOf = ({ secret }: Pick<Account, "secret">, atMs = now): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: atMs });
const wrong = (account: Pick<Account, "secret">): string => codeOf(account, now + 100 * STEP);

const register = async (): Promise<{ id: string; email: string }> => {
  const email = `${randomUUID()}@example.com`;
  return identity.signIn.register({ email, password: PASSWORD, address: HOME });
};
const enrol = (userId: string, password = PASSWORD) => identity.secondFactors.enrol({ userId, password, address: HOME });
/** An account with a second factor. Its next code is for the next time step. */
const account = async (): Promise<Account> => {
  const { id, email } = await register();
  const { secret } = await enrol(id);
  const { recoveryCodes } = await identity.secondFactors.confirm(id, codeOf({ secret }));
  now += STEP;
  return { id, email, secret, recoveryCodes };
};
const begin = async ({ email }: Pick<Account, "email">, address = HOME, password = PASSWORD): Promise<string> => {
  const result = await identity.signIn.login({ email, password, address });
  if (!("pending" in result)) throw new Error("signed in without a code");
  return result.pending.token;
};
const complete = (token: string, code: string, address = HOME) => identity.pendingSignIns.complete({ token, code, address });
const UNAUTHENTICATED = { reason: "UNAUTHENTICATED" };
const stored = async ({ id }: Pick<Account, "id">): Promise<UserRecord> =>
  (await deployment.database.collection<UserRecord>("users").findOne({ _id: id }))!;

describe("enabling a second factor", () => {
  it("needs the password and a code; until then signing in needs none", async () => {
    const { id, email } = await register();
    expect(await refusal(enrol(id, "not the password"))).toMatchObject(UNAUTHENTICATED);
    const { secret, url } = await enrol(id);
    expect(url).toContain(secret);
    expect(await refusal(identity.secondFactors.confirm(id, wrong({ secret })))).toMatchObject(UNAUTHENTICATED);
    expect(await identity.signIn.login({ email, password: PASSWORD, address: HOME })).toHaveProperty("user.secondFactor", false);
    const { user, recoveryCodes } = await identity.secondFactors.confirm(id, codeOf({ secret }));
    expect(user).toMatchObject({ secondFactor: true, sessionEpoch: 1 });
    expect(recoveryCodes).toHaveLength(10);
    expect(await identity.secondFactors.state(id)).toEqual({
      configured: true,
      onSince: new Date(now),
      recoveryCodes: 10,
      hasPassword: true,
    });
  });

  it("stores neither the secret nor a recovery code in plain text", async () => {
    const one = await account();
    const text = JSON.stringify(await stored(one));
    for (const value of [one.secret, ...one.recoveryCodes, ...one.recoveryCodes.map((code) => code.replace("-", ""))])
      expect(text).not.toContain(value);
  });

  it("is rejected if one is enabled, which stays unchanged", async () => {
    const one = await account();
    expect(await refusal(enrol(one.id))).toMatchObject({ reason: "PRECONDITION_FAILED" });
    await complete(await begin(one), codeOf(one));
  });

  it("is rejected if the secret can't be stored, and the error names the missing setting", async () => {
    const { id } = await register();
    const without = await startWith([]);
    expect(await refusal(without.secondFactors.enrol({ userId: id, password: PASSWORD, address: HOME }))).toMatchObject({
      reason: "NOT_CONFIGURED",
      message: expect.stringContaining("SECRETS_KEYS") as string,
    });
    expect((await without.secondFactors.state(id)).configured).toBe(false);
  });
});

describe("signing in with a second factor", () => {
  it("accepts a code of a step once: neither again, nor one of an earlier step", async () => {
    const one = await account();
    const code = codeOf(one);
    expect(await complete(await begin(one), code)).toMatchObject({ id: one.id });
    expect(await refusal(complete(await begin(one), code))).toMatchObject(UNAUTHENTICATED);
    expect(await refusal(complete(await begin(one), codeOf(one, now - STEP)))).toMatchObject(UNAUTHENTICATED);
    now += STEP;
    expect(await complete(await begin(one), codeOf(one))).toMatchObject({ id: one.id });
  });

  it("with one code, sent several times at once, succeeds once", async () => {
    const one = await account();
    const tokens = [await begin(one), await begin(one), await begin(one), await begin(one)];
    const code = codeOf(one);
    const results = await Promise.allSettled(tokens.flatMap((token) => [complete(token, code), complete(token, code)]));
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });

  it("continues after a wrong code, and ends with the right one", async () => {
    const one = await account();
    const token = await begin(one);
    expect(await refusal(complete(token, wrong(one)))).toMatchObject(UNAUTHENTICATED);
    await complete(token, codeOf(one));
    now += STEP;
    expect(await refusal(complete(token, codeOf(one)))).toMatchObject(UNAUTHENTICATED);
  });

  it("is limited to the address that sent the password, for five minutes", async () => {
    const one = await account();
    expect(await refusal(complete(await begin(one), codeOf(one), ELSEWHERE))).toMatchObject(UNAUTHENTICATED);
    const token = await begin(one);
    now += 5 * MINUTE;
    expect(await refusal(complete(token, codeOf(one)))).toMatchObject(UNAUTHENTICATED);
  });

  it("ends whenever all sessions end: by signing out everywhere, and by a suspension", async () => {
    const one = await account();
    const ends = [() => identity.passwordChanges.endSessions(one.id), () => identity.users.update(one.id, { suspended: true })];
    for (const end of ends) {
      const token = await begin(one);
      await end();
      now += STEP;
      expect(await refusal(complete(token, codeOf(one)))).toMatchObject(UNAUTHENTICATED);
    }
  });

  it("accepts each recovery code once", async () => {
    const one = await account();
    const [first = "", second = ""] = one.recoveryCodes;
    await complete(await begin(one), first.toUpperCase());
    expect(await refusal(complete(await begin(one), first))).toMatchObject(UNAUTHENTICATED);
    await complete(await begin(one), second);
    expect((await identity.secondFactors.state(one.id)).recoveryCodes).toBe(8);
  });

  it("slows down guessing of codes, however often the right password is sent in between", async () => {
    const one = await account();
    for (let guess = 0; guess < 10; guess += 1) await refusal(complete(await begin(one, ELSEWHERE), wrong(one), ELSEWHERE));
    now += 16 * MINUTE;
    const guess = async (): Promise<string> => (await refusal(complete(await begin(one, ELSEWHERE), wrong(one), ELSEWHERE))).reason;
    for (let turn = 0; turn < 9; turn += 1) expect(await guess()).toBe("UNAUTHENTICATED");
    const token = await begin(one, ELSEWHERE);
    expect(await refusal(complete(token, wrong(one), ELSEWHERE))).toMatchObject(UNAUTHENTICATED);
    expect(await refusal(complete(token, codeOf(one), ELSEWHERE))).toMatchObject({ reason: "RATE_LIMIT_EXCEEDED" });
    await complete(await begin(one), codeOf(one));
  });
});

describe("an enabled second factor", () => {
  it("survives new passwords, set with the old one and by a reset link", async () => {
    const one = await account();
    await identity.passwordChanges.change({ userId: one.id, current: PASSWORD, next: NEXT, address: HOME });
    await complete(await begin(one, HOME, NEXT), codeOf(one));
    const { token } = await identity.passwordChanges.createReset(one.id);
    await identity.passwordChanges.redeemReset({ token, next: PASSWORD, address: ELSEWHERE });
    now += STEP;
    await complete(await begin(one), codeOf(one));
  });

  it("is disabled by the password with a code, and by neither alone", async () => {
    const one = await account();
    const off = (password: string, code: string) => identity.secondFactors.remove({ userId: one.id, password, code, address: HOME });
    expect(await refusal(off("not the password", codeOf(one)))).toMatchObject(UNAUTHENTICATED);
    expect(await refusal(off(PASSWORD, wrong(one)))).toMatchObject(UNAUTHENTICATED);
    await off(PASSWORD, codeOf(one));
    expect(await identity.signIn.login({ email: one.email, password: PASSWORD, address: HOME })).toHaveProperty("user");
    expect(await refusal(off(PASSWORD, codeOf(one)))).toMatchObject({ reason: "PRECONDITION_FAILED" });
  });

  it("is disabled by an administrator; a repetition changes nothing", async () => {
    const one = await account();
    expect([await identity.secondFactors.reset(one.id), await identity.secondFactors.reset(one.id)]).toEqual([true, false]);
    expect(await identity.signIn.login({ email: one.email, password: PASSWORD, address: HOME })).toHaveProperty("user.id", one.id);
    expect(await refusal(identity.secondFactors.reset(randomUUID()))).toMatchObject({ reason: "NOT_FOUND" });
  });

  it("is encrypted with the new key at a start; if a key was lost, recovery codes still work", async () => {
    const one = await account();
    expect((await (await startWith([NEW, OLD])).secondFactors.reseal()).resealed).toContain(one.id);
    const later = await startWith([NEW]);
    await later.pendingSignIns.complete({ token: await begin(one), code: codeOf(one), address: HOME });
    expect((await identity.secondFactors.reseal()).lost).toContain(one.id);
    const token = await begin(one);
    now += STEP;
    expect(await refusal(complete(token, codeOf(one)))).toMatchObject({ reason: "NOT_CONFIGURED" });
    await complete(token, one.recoveryCodes[0]!);
  });

  it("of a person who registered under the administrator's address isn't the administrator's", async () => {
    const one = await account();
    await identity.bootstrap.ensureAdmin(one.email, NEXT);
    expect(await identity.signIn.login({ email: one.email, password: NEXT, address: HOME })).toHaveProperty("user.role", "admin");
  });
});
