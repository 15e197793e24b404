import { randomUUID } from "node:crypto";
import { newUser, PASSWORD, refusal, useIdentity } from "../support";

const NEXT = "a loom of many colours";
const THIRD = "yet another fine thread";

const { client, deployment } = useIdentity();

const change = (userId: string, currentPassword: string, newPassword: string) =>
  client.changePassword({ userId, currentPassword, newPassword }, { deadlineMs: 20_000 });
const login = (email: string, password: string) => client.login({ email, password });
const reset = (userId: string) => client.createPasswordReset({ userId });
const redeem = (token: string, newPassword: string) => client.redeemPasswordReset({ token, newPassword }, { deadlineMs: 20_000 });

describe("changing a password", () => {
  it("needs the current one, and ends every session", async () => {
    const { id, email } = await newUser(client);
    expect(await refusal(change(id, "wrong password", NEXT))).toMatchObject({ reason: "UNAUTHENTICATED" });
    const { user } = await change(id, PASSWORD, NEXT);
    expect(user!.sessionEpoch).toBe(1);
    expect(await refusal(login(email, PASSWORD))).toMatchObject({ reason: "UNAUTHENTICATED" });
    expect((await login(email, NEXT)).user!.sessionEpoch).toBe(1);
  });

  it("counts wrong ones as failed sign-ins", async () => {
    const { id, email } = await newUser(client);
    for (let guess = 0; guess < 10; guess += 1) await refusal(change(id, "wrong password", NEXT));
    expect(await refusal(change(id, PASSWORD, NEXT))).toMatchObject({ reason: "RATE_LIMIT_EXCEEDED" });
    expect(await refusal(login(email, PASSWORD))).toMatchObject({ reason: "RATE_LIMIT_EXCEEDED" });
  });

  it("rejects a new one that breaks the rules, and names the rule", async () => {
    const { id, email } = await newUser(client);
    for (const bad of ["short", "password123", email]) {
      const { reason, metadata } = await refusal(change(id, PASSWORD, bad));
      expect(reason).toBe("INVALID_REQUEST");
      expect(metadata.issues).toMatchObject([{ path: "new" }]);
    }
    await expect(login(email, PASSWORD)).resolves.toBeDefined();
  });

  it("succeeds for one of many concurrent requests", async () => {
    const { id } = await newUser(client);
    const changes = Array.from({ length: 5 }, (_, index) => change(id, PASSWORD, `${NEXT} ${index}`));
    const results = await Promise.allSettled(changes);
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect((await client.getUser({ userId: id })).user!.sessionEpoch).toBe(1);
  });
});

describe("a reset link", () => {
  it("sets the password once, and ends every session", async () => {
    const { id, email } = await newUser(client);
    const { token, expiresAt } = await reset(id);
    expect(expiresAt!.getTime() - Date.now()).toBeGreaterThan(59 * 60_000);
    const redeemed = await Promise.allSettled([redeem(token, NEXT), redeem(token, THIRD)]);
    expect(redeemed.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(await refusal(redeem(token, THIRD))).toMatchObject({ reason: "UNAUTHENTICATED" });
    expect(await refusal(login(email, PASSWORD))).toMatchObject({ reason: "UNAUTHENTICATED" });
    expect((await client.getUser({ userId: id })).user!.sessionEpoch).toBe(1);
  });

  it("still works after a new password that breaks the rules", async () => {
    const { id, email } = await newUser(client);
    const { token } = await reset(id);
    expect(await refusal(redeem(token, "password123"))).toMatchObject({ reason: "INVALID_REQUEST" });
    await redeem(token, NEXT);
    await expect(login(email, NEXT)).resolves.toBeDefined();
  });

  it("ends after an hour, with the next link, and when the password changes", async () => {
    const { id } = await newUser(client);
    const [first, second] = [await reset(id), await reset(id)];
    expect(await refusal(redeem(first.token, NEXT))).toMatchObject({ reason: "UNAUTHENTICATED" });
    await change(id, PASSWORD, NEXT);
    expect(await refusal(redeem(second.token, THIRD))).toMatchObject({ reason: "UNAUTHENTICATED" });
    const third = await reset(id);
    await deployment.database
      .collection<{ _id: string }>("users")
      .updateOne({ _id: id }, { $set: { "passwordReset.expiresAt": new Date() } });
    expect(await refusal(redeem(third.token, THIRD))).toMatchObject({ reason: "UNAUTHENTICATED" });
  });

  it("works for no other user, and isn't stored", async () => {
    const [mine, other] = [await newUser(client), await newUser(client)];
    const { token } = await reset(mine.id);
    const secret = token.slice(mine.id.length + 1);
    for (const forged of [`${other.id}.${secret}`, secret, "", `${randomUUID()}.${secret}`, `${mine.id}.${"A".repeat(43)}`]) {
      expect(await refusal(redeem(forged, NEXT))).toMatchObject({ reason: "UNAUTHENTICATED" });
    }
    expect(JSON.stringify(await deployment.database.collection("users").find().toArray())).not.toContain(secret);
    expect(await refusal(reset("nobody"))).toMatchObject({ reason: "NOT_FOUND" });
  });
});

it("ends all sessions of a user on request", async () => {
  const { id } = await newUser(client);
  expect((await client.endSessions({ userId: id })).user!.sessionEpoch).toBe(1);
  expect((await client.endSessions({ userId: id })).user!.sessionEpoch).toBe(2);
  expect(await refusal(client.endSessions({ userId: "nobody" }))).toMatchObject({ reason: "NOT_FOUND" });
});
