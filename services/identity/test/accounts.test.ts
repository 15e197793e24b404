import { identity } from "@nodeloom/proto";
import { newUser, PASSWORD, refusal, useIdentity } from "./support";

const { client, deployment } = useIdentity();

const list = (request: Partial<identity.ListUsersRequest>): Promise<identity.ListUsersResponse> =>
  client.listUsers(identity.ListUsersRequest.fromPartial(request));

describe("registering", () => {
  it("creates an unapproved user on Free, its address trimmed and lower-cased", async () => {
    const { user } = await client.register({ email: "  Ada.Lovelace@Example.COM ", password: PASSWORD });
    expect(user).toMatchObject({ email: "ada.lovelace@example.com", role: "user", tier: "free", approved: false });
    expect(user!.id).toMatch(/^[0-9a-f-]{36}$/);
    expect(user!.plan).toMatchObject({ tier: "free", base: "free", rateLimitPerMinute: 60, concurrency: 1 });
    expect((await client.getUser({ userId: user!.id })).user).toEqual(user);
  });

  it("gives an address to one of twenty simultaneous registrations", async () => {
    const attempts = Array.from({ length: 20 }, (_, index) =>
      client.register(
        { email: index % 2 ? "race@example.com" : " RACE@example.com", password: `${PASSWORD}${index}` },
        { deadlineMs: 20_000 },
      ),
    );
    const results = await Promise.allSettled(attempts);
    const rejections = results.filter((result) => result.status === "rejected");
    expect(rejections).toHaveLength(19);
    for (const { reason } of rejections) expect(reason).toMatchObject({ kind: "conflict", reason: "ALREADY_EXISTS" });
    expect((await list({ query: "race@" })).users).toHaveLength(1);
  });

  it("names every error", async () => {
    const { reason, metadata } = await refusal(client.register({ email: "nobody", password: "short" }));
    expect(reason).toBe("INVALID_REQUEST");
    expect(metadata.issues).toMatchObject([{ path: "email" }, { path: "password" }]);
  });

  it("stores no password", async () => {
    await client.register({ email: "stored@example.com", password: PASSWORD });
    const stored = await deployment.database.collection("users").findOne({ email: "stored@example.com" });
    expect(JSON.stringify(stored)).not.toContain(PASSWORD);
    expect(stored!.passwordHash).toMatch(/^\$argon2id\$/);
  });
});

describe("signing in", () => {
  it("accepts the password, however the address is written", async () => {
    const { user } = await client.register({ email: "login@example.com", password: PASSWORD });
    expect((await client.login({ email: " LOGIN@example.com", password: PASSWORD })).user).toEqual(user);
  });

  it("treats a wrong password exactly like an unknown address", async () => {
    await client.register({ email: "known@example.com", password: PASSWORD });
    const wrong = await refusal(client.login({ email: "known@example.com", password: "wrong password" }));
    const unknown = await refusal(client.login({ email: "unknown@example.com", password: "wrong password" }));
    const malformed = await refusal(client.login({ email: "{$ne: null}", password: "" }));
    expect(wrong.reason).toBe("UNAUTHENTICATED");
    expect(unknown).toEqual(wrong);
    expect(malformed).toEqual(wrong);
  });

  it.each(["throttled@example.com", "throttled-nobody@example.com"])("rejects %s after ten failures, also parallel ones", async (email) => {
    if (!email.includes("nobody")) await client.register({ email, password: PASSWORD });
    const guesses = Array.from({ length: 25 }, () => refusal(client.login({ email, password: "wrong password" }, { deadlineMs: 20_000 })));
    const reasons = (await Promise.all(guesses)).map(({ reason }) => reason);
    expect(reasons.filter((reason) => reason === "UNAUTHENTICATED")).toHaveLength(10);
    expect(reasons.filter((reason) => reason === "RATE_LIMIT_EXCEEDED")).toHaveLength(15);
    // Even the correct password fails, because the error must not confirm a guess.
    const { kind, reason, metadata } = await refusal(client.login({ email, password: PASSWORD }));
    expect([kind, reason]).toEqual(["exhausted", "RATE_LIMIT_EXCEEDED"]);
    expect(metadata.retryAfter).toBeGreaterThan(14 * 60);
    expect(metadata.retryAfter).toBeLessThanOrEqual(15 * 60);
  });

  it("counts failures from zero after the window", async () => {
    await client.register({ email: "window@example.com", password: PASSWORD });
    for (let round = 0; round < 10; round += 1) await refusal(client.login({ email: "window@example.com", password: "wrong password" }));
    expect(await refusal(client.login({ email: "window@example.com", password: PASSWORD }))).toMatchObject({
      reason: "RATE_LIMIT_EXCEEDED",
    });
    await deployment.database.collection("attempts").updateMany({}, { $set: { endsAt: new Date() } });
    await expect(client.login({ email: "window@example.com", password: PASSWORD })).resolves.toBeDefined();
  });

  it("resets failures after a success", async () => {
    await client.register({ email: "forgets@example.com", password: PASSWORD });
    for (let round = 0; round < 2; round += 1) {
      for (let guess = 0; guess < 8; guess += 1) await refusal(client.login({ email: "forgets@example.com", password: "wrong password" }));
      await client.login({ email: "forgets@example.com", password: PASSWORD });
    }
  });
});

describe("the admin's view", () => {
  it("pages through all users, newest first, each once", async () => {
    for (let index = 0; index < 5; index += 1) await client.register({ email: `page${index}@paging.example`, password: PASSWORD });
    const emails: string[] = [];
    let cursor = "";
    do {
      const page = await list({ query: "@PAGING.", limit: 2, cursor });
      expect(page.users.length).toBeLessThanOrEqual(2);
      emails.push(...page.users.map(({ email }) => email));
      cursor = page.nextCursor;
    } while (cursor);
    expect(emails).toEqual([4, 3, 2, 1, 0].map((index) => `page${index}@paging.example`));
  });

  it("filters by approval and takes the query literally", async () => {
    const { user } = await client.register({ email: "filter+one@filter.example", password: PASSWORD });
    expect((await list({ query: "filter.example", approved: true })).users).toEqual([]);
    await client.updateUser({ userId: user!.id, approved: true });
    expect((await list({ query: "filter.example", approved: true })).users).toHaveLength(1);
    expect((await list({ query: "r+one@f" })).users).toHaveLength(1);
    expect((await list({ query: ".*@filter" })).users).toEqual([]);
    expect((await list({ query: "filter\0" })).users).toEqual([]);
  });

  it.each([{ cursor: "nonsense" }, { limit: -1 }, { limit: 501 }, { query: "x".repeat(300) }])("rejects %j", async (request) => {
    expect(await refusal(list(request))).toMatchObject({ reason: "INVALID_REQUEST" });
  });

  it("treats an unknown user alike for reading and changing", async () => {
    const readError = await refusal(client.getUser({ userId: "nobody" }));
    expect(readError).toMatchObject({ kind: "not_found", reason: "NOT_FOUND" });
    expect(await refusal(client.updateUser({ userId: "nobody", approved: true }))).toEqual(readError);
  });
});

describe("changing a user", () => {
  it("applies the given members, and returns the user before and after", async () => {
    const user = await newUser(client);
    const { user: after, before } = await client.updateUser({ userId: user.id, tier: "business", role: "admin" });
    expect(after!.revision).toBe(before!.revision + 1);
    expect(before).toEqual(user);
    expect(after).toMatchObject({
      id: user.id,
      tier: "business",
      role: "admin",
      approved: true,
      plan: { base: "business", concurrency: 50 },
    });
    expect((await client.getUser({ userId: user.id })).user).toEqual(after);
  });

  it.each([
    { tier: "platinum" },
    { role: "root" },
    { business: { business: { name: "  ", verified: true } } },
    { business: { business: { name: "x".repeat(201), verified: true } } },
    {},
  ])("rejects %j", async (update) => {
    const user = await newUser(client);
    expect(await refusal(client.updateUser({ userId: user.id, ...update }))).toMatchObject({ reason: "INVALID_REQUEST" });
    expect((await client.getUser({ userId: user.id })).user).toEqual(user);
  });

  it("limits a business's name by visible characters", async () => {
    const { id: userId } = await newUser(client);
    const business = { name: "🧵".repeat(200), verified: false };
    expect((await client.updateUser({ userId, business: { business } })).user).toMatchObject({ business });
  });

  it("registers a business, changes it and removes it", async () => {
    const { id: userId, business } = await newUser(client);
    expect(business).toBeUndefined();
    const set = async (newBusiness: identity.Business | undefined) =>
      (await client.updateUser({ userId, business: { business: newBusiness } })).user!.business;
    expect(await set({ name: " Loom Works ", verified: false })).toEqual({ name: "Loom Works", verified: false });
    expect(await set({ name: "Loom Works", verified: true })).toEqual({ name: "Loom Works", verified: true });
    await client.updateUser({ userId, tier: "business" });
    expect((await client.getUser({ userId })).user!.business).toEqual({ name: "Loom Works", verified: true });
    expect(await set(undefined)).toBeUndefined();
  });

  it("loses none of two simultaneous changes", async () => {
    const user = await newUser(client);
    await Promise.all([
      client.updateUser({ userId: user.id, tier: "pro" }),
      client.updateUser({ userId: user.id, role: "admin" }),
      client.updateUser({ userId: user.id, approved: false }),
    ]);
    expect((await client.getUser({ userId: user.id })).user).toMatchObject({ tier: "pro", role: "admin", approved: false });
  });
});
