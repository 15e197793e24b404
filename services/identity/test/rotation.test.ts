import { createKey, eventually, newUser, refusal, useIdentity } from "./support";

const { client, deployment } = useIdentity();
let userId: string;

beforeAll(async () => {
  userId = (await newUser(client, { tier: "pro" })).id;
});

const works = async (value: string): Promise<boolean> => {
  try {
    await client.authenticateKey({ value });
    return true;
  } catch (error) {
    expect(error).toMatchObject({ reason: "UNAUTHENTICATED" });
    return false;
  }
};

const rotated = async (graceSeconds: number) => {
  const created = await createKey(client, userId);
  await client.authenticateKey({ value: created.value });
  const keyId = created.key!.id;
  const rotation = await client.rotateKey({ userId, keyId, graceSeconds });
  return { keyId, created, rotation, oldValue: created.value, newValue: rotation.value };
};

describe("rotating a key", () => {
  it("keeps the record and changes the value", async () => {
    const { keyId, created, rotation, oldValue, newValue } = await rotated(60);
    expect(newValue).not.toBe(oldValue);
    expect(rotation.key).toMatchObject({
      id: keyId,
      name: created.key!.name,
      start: newValue.slice(0, 12),
      createdAt: created.key!.createdAt,
    });
    expect(rotation.webhookSecret).toBe("");
    expect((await client.authenticateKey({ value: newValue })).key!.id).toBe(keyId);
  });

  it("with a grace period keeps the old value until the new one is used", async () => {
    const { oldValue } = await rotated(1);
    for (let use = 0; use < 3; use += 1) expect(await works(oldValue)).toBe(true);
  });

  it("without a grace period ends the old value at once, and one that an earlier rotation kept", async () => {
    const { keyId, oldValue, newValue } = await rotated(0);
    await eventually(async () => !(await works(oldValue)));
    expect(await works(newValue)).toBe(true);
    await client.rotateKey({ userId, keyId, graceSeconds: 60 });
    const { value: newest } = await client.rotateKey({ userId, keyId, graceSeconds: 0 });
    await eventually(async () => !(await works(newValue)));
    expect(await works(newest)).toBe(true);
  });

  it("ends the old value a grace period after the new one's first use, not after a later one", async () => {
    const { keyId, oldValue, newValue } = await rotated(60);
    const records = deployment.database.collection<{ _id: string; rotation: { previousEndsAt: Date } }>("keys");
    const endsAt = async (): Promise<number> => (await records.findOne({ _id: keyId }))!.rotation.previousEndsAt.getTime();
    const before = Date.now();
    expect(await works(newValue)).toBe(true);
    const after = Date.now();
    const ends = await endsAt();
    expect(ends).toBeGreaterThanOrEqual(before + 60_000);
    expect(ends).toBeLessThanOrEqual(after + 60_000);
    expect(await works(oldValue)).toBe(true);
    expect(await works(newValue)).toBe(true);
    expect(await endsAt()).toBe(ends);
    await records.updateOne({ _id: keyId }, { $set: { "rotation.previousEndsAt": new Date(after - 1) } });
    await eventually(async () => !(await works(oldValue)));
    expect(await works(newValue)).toBe(true);
  });

  it("replaces an unused new value and keeps a used one", async () => {
    const { keyId, oldValue, newValue } = await rotated(60);
    const { value: newest } = await client.rotateKey({ userId, keyId, graceSeconds: 60 });
    expect(await works(newValue)).toBe(false);
    expect(await works(oldValue)).toBe(true);
    expect(await works(newest)).toBe(true);
    expect(await works(oldValue)).toBe(true);
  });

  it("succeeds for one of many concurrent requests", async () => {
    const { key, value } = await createKey(client, userId);
    const results = await Promise.allSettled(
      Array.from({ length: 8 }, () => client.rotateKey({ userId, keyId: key!.id, graceSeconds: 60 })),
    );
    const won = results.flatMap((result) => (result.status === "fulfilled" ? [result.value.value] : []));
    for (const result of results) if (result.status === "rejected") expect(result.reason).toMatchObject({ reason: "PRECONDITION_FAILED" });
    const working = await Promise.all(won.map(works));
    // Consecutive rotations replace each other, so only the last value works.
    expect(working.filter(Boolean)).toHaveLength(1);
    expect(await works(value)).toBe(true);
  });

  it("doesn't outlive a revocation: both values stop", async () => {
    const { keyId, oldValue, newValue } = await rotated(86_400);
    expect(await works(newValue)).toBe(true);
    expect(await works(oldValue)).toBe(true);
    await client.revokeKey({ userId, keyId });
    expect(await works(newValue)).toBe(false);
    expect(await works(oldValue)).toBe(false);
  });

  it.each([-1, 86_401])("rejects a grace period of %d s", async (graceSeconds) => {
    const { key } = await createKey(client, userId);
    const { reason, metadata } = await refusal(client.rotateKey({ userId, keyId: key!.id, graceSeconds }));
    expect(reason).toBe("INVALID_REQUEST");
    expect(metadata.issues).toMatchObject([{ path: "graceSeconds" }]);
  });

  it("rejects an expired key", async () => {
    const { key } = await createKey(client, userId, { expiresAt: new Date(Date.now() + 60_000) });
    await deployment.database.collection<{ _id: string }>("keys").updateOne({ _id: key!.id }, { $set: { expiresAt: new Date() } });
    expect(await refusal(client.rotateKey({ userId, keyId: key!.id, graceSeconds: 0 }))).toMatchObject({ reason: "PRECONDITION_FAILED" });
  });
});
