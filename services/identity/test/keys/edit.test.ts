import { createKey, eventually, newUser, refusal, useIdentity, type IdentityClient } from "../support";

const { client, deployment } = useIdentity();
let replica: IdentityClient;
beforeAll(async () => {
  ({ client: replica } = await deployment.startInstance());
});

const grantsOf = (capabilities: string[]) => ({ capabilities });

describe("editing a key", () => {
  it("changes its capabilities everywhere", async () => {
    const { id: userId } = await newUser(client, { tier: "pro" });
    const { key, value } = await createKey(client, userId, grantsOf(["workflow:read"]));
    expect((await replica.authenticateKey({ value })).effectiveCapabilities).toEqual(["workflow:read"]);
    const { key: edited } = await client.updateKey({
      userId,
      keyId: key!.id,
      capabilities: grantsOf(["workflow:write", "workflow:read"]),
      metadata: undefined,
    });
    expect(edited).toMatchObject({ name: "a key", preset: "custom", capabilities: ["workflow:write", "workflow:read"] });
    await eventually(async () => (await replica.authenticateKey({ value })).effectiveCapabilities.length === 2);
  });

  it("renames it, or changes both at once", async () => {
    const { id: userId } = await newUser(client, { tier: "pro" });
    const { key } = await createKey(client, userId);
    const renamed = await client.updateKey({ userId, keyId: key!.id, name: " two ", capabilities: undefined, metadata: undefined });
    expect(renamed.key).toMatchObject({ name: "two", preset: "workflow-deploy", capabilities: ["workflow:run", "workflow:read"] });
    const both = await client.updateKey({
      userId,
      keyId: key!.id,
      name: "three",
      capabilities: grantsOf(["execution:read"]),
      metadata: undefined,
    });
    expect(both.key).toMatchObject({ name: "three", preset: "custom", capabilities: ["execution:read"] });
  });

  it("sets metadata on its runs everywhere, with any names, and removes it again", async () => {
    const { id: userId } = await newUser(client, { tier: "pro" });
    const { key, value } = await createKey(client, userId);
    const values = { "customer.of": "acme", $where: "", customer: "x".repeat(500) };
    const set = (metadata: Record<string, string>) =>
      client.updateKey({ userId, keyId: key!.id, capabilities: undefined, metadata: { values: metadata } });
    expect((await set(values)).key).toMatchObject({ name: "a key", metadata: values });
    await eventually(async () => (await replica.authenticateKey({ value })).key?.metadata["customer.of"] === "acme");
    const tooMany = Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`m${index}`, ""]));
    for (const wrong of [{ ["n".repeat(41)]: "" }, { customer: "x".repeat(501) }, { "": "" }, tooMany])
      expect(await refusal(set(wrong))).toMatchObject({ reason: "INVALID_REQUEST" });
    expect((await set({})).key!.metadata).toEqual({});
  });

  it("stays within the ceiling of the owner's current tier", async () => {
    const { id: userId } = await newUser(client, { tier: "business" });
    const { key } = await createKey(client, userId, grantsOf(["model:run"]));
    await client.updateUser({ userId, tier: "pro" });
    const edit = (capabilities: string[]) =>
      client.updateKey({ userId, keyId: key!.id, capabilities: grantsOf(capabilities), metadata: undefined });
    expect(await refusal(edit(["model:run", "workflow:read"]))).toMatchObject({
      reason: "CAPABILITY_ABOVE_CEILING",
      metadata: { capabilities: ["model:run"] },
    });
    expect(await refusal(edit(["*"]))).toMatchObject({ reason: "CAPABILITY_ABOVE_CEILING" });
    expect((await client.listKeys({ userId })).keys[0]!.capabilities).toEqual(["model:run"]);
  });

  it("rejects invalid changes, and another user's key", async () => {
    const [mine, other] = [await newUser(client, { tier: "pro" }), await newUser(client, { tier: "pro" })];
    const { key } = await createKey(client, mine.id);
    const edit = (userId: string, change: object) => client.updateKey({ userId, keyId: key!.id, ...change } as never);
    for (const change of [{}, { name: " " }, { capabilities: grantsOf([]) }, { capabilities: grantsOf(["fly"]) }]) {
      expect(await refusal(edit(mine.id, change))).toMatchObject({ reason: "INVALID_REQUEST" });
    }
    expect(await refusal(edit(other.id, { name: "mine" }))).toMatchObject({ reason: "NOT_FOUND" });
    expect(await refusal(edit(other.id, { capabilities: grantsOf(["workflow:read"]) }))).toMatchObject({ reason: "NOT_FOUND" });
  });
});

describe("a key that can start runs but not poll them", () => {
  it.each([[["workflow:run"]], [["workflow:poster:run", "workflow:read"]], [["model:sandbox-image:run"]], [["workflow:*"]]])(
    "is created with a warning that names execution:read: %j",
    async (capabilities) => {
      const { id } = await newUser(client, { tier: "business" });
      const { warnings } = await createKey(client, id, grantsOf(capabilities));
      expect(warnings).toEqual([expect.stringContaining("execution:read")]);
    },
  );

  it("is distinguished from keys that poll, or run nothing", async () => {
    const { id } = await newUser(client, { tier: "business" });
    for (const capabilities of [["workflow:run", "execution:read"], ["workflow:read"], ["webhook:receive"], ["model:run", "execution:*"]]) {
      expect((await createKey(client, id, grantsOf(capabilities))).warnings).toEqual([]);
    }
    const deployed = await createKey(client, id);
    expect(deployed.warnings).toHaveLength(1);
    const edited = await client.updateKey({
      userId: id,
      keyId: deployed.key!.id,
      capabilities: grantsOf(["workflow:run", "execution:read"]),
      metadata: undefined,
    });
    expect(edited.warnings).toEqual([]);
  });
});
