import { randomBytes } from "node:crypto";
import type { SecretRecord } from "../../src/records";
import { deploy, refusal, type Deployment, type Instance } from "../support";

const key = (): string => randomBytes(32).toString("hex");
const [OLD, NEW] = [key(), key()];
const VALUE = "sk-proj-0123456789abcdefWXYZ";
const secret = { owner: "platform", name: "OPENAI_API_KEY", value: VALUE, hosts: [], workflows: [], setBy: "an-admin" };

let deployment: Deployment;
const instance = (keys: string): Promise<Instance> => deployment.startInstance({ SECRETS_KEYS: keys });
const rows = () => deployment.database.collection<SecretRecord>("secrets");
const read = async ({ client }: Instance, name = secret.name, owner = secret.owner): Promise<string | undefined> =>
  (await client.readSecrets({ owner, names: [name] })).values[name];

beforeEach(async () => {
  deployment = await deploy();
});
afterEach(() => deployment.stop());

describe("a secret", () => {
  it("is returned as it was set, and isn't in the database in plain text", async () => {
    const one = await instance(NEW);
    const { secret: storedSecret } = await one.client.putSecret(secret);
    expect(storedSecret).toMatchObject({ name: secret.name, hint: "WXYZ", setBy: "an-admin", setAt: expect.any(Date) as Date });
    expect(await read(one)).toBe(VALUE);
    const stored = JSON.stringify(await rows().find().toArray());
    expect(stored).not.toContain(VALUE);
    expect(stored).not.toContain(Buffer.from(VALUE).toString("base64").slice(0, 20));
  });

  it("is listed without its value", async () => {
    const one = await instance(NEW);
    await one.client.putSecret(secret);
    await one.client.putSecret({ ...secret, owner: "user:1" });
    const list = await one.client.listSecrets({ owner: "platform" });
    expect(list).toMatchObject({ configured: true, secrets: [{ name: secret.name, hint: "WXYZ" }] });
    expect(JSON.stringify(list)).not.toContain(VALUE);
  });

  it("reveals no part of a short value", async () => {
    const one = await instance(NEW);
    expect((await one.client.putSecret({ ...secret, value: "short-value" })).secret?.hint).toBe("");
  });

  it("has one value per alias, and a run by another alias gets none", async () => {
    const one = await instance(NEW);
    const of = (alias: string): Promise<Record<string, string>> =>
      one.client.readSecrets({ owner: secret.owner, names: [secret.name], alias }).then(({ values }) => values);
    await one.client.putSecret({ ...secret, value: "for-everyone" });
    expect(await Promise.all(["", "staging"].map(of))).toEqual(Array(2).fill({ [secret.name]: "for-everyone" }));
    await one.client.putSecret({ ...secret, value: "for-staging", alias: "staging" });
    await one.client.putSecret({ ...secret, value: "for-production", alias: "production" });
    expect(await Promise.all(["staging", "production", "", "other"].map(of))).toEqual([
      { [secret.name]: "for-staging" },
      { [secret.name]: "for-production" },
      {},
      {},
    ]);
    const { secrets } = await one.client.listSecrets({ owner: secret.owner });
    expect(secrets.map(({ name, alias }) => [name, alias])).toEqual([
      [secret.name, undefined],
      [secret.name, "production"],
      [secret.name, "staging"],
    ]);
    for (const alias of ["staging", "production"]) await one.client.deleteSecret({ owner: secret.owner, name: secret.name, alias });
    expect(await of("staging")).toEqual({ [secret.name]: "for-everyone" });
    const error = await refusal(one.client.putSecret({ ...secret, alias: "No@Name" }));
    expect(error).toMatchObject({ reason: "INVALID_REQUEST" });
  });

  it("is replaced when it is set again, on every instance at once", async () => {
    const [one, other] = [await instance(NEW), await instance(NEW)];
    await one.client.putSecret(secret);
    await other.client.putSecret({ ...secret, value: "another-value-of-the-key" });
    expect(await read(one)).toBe("another-value-of-the-key");
    expect(await rows().countDocuments()).toBe(1);
  });

  it("can't be read as another owner's or name's, whatever the database contains", async () => {
    const one = await instance(NEW);
    await one.client.putSecret(secret);
    await rows().updateOne({}, { $set: { owner: "user:1" } });
    await expect(read(one, secret.name, "user:1")).rejects.toMatchObject({ reason: "INTERNAL" });
    await rows().updateOne({}, { $set: { owner: "platform", name: "OTHER" } });
    await expect(read(one, "OTHER")).rejects.toMatchObject({ reason: "INTERNAL" });
  });

  it("is missing after it is deleted; deleting it again changes nothing", async () => {
    const one = await instance(NEW);
    await one.client.putSecret(secret);
    expect((await one.client.deleteSecret(secret)).secret?.name).toBe(secret.name);
    expect((await one.client.deleteSecret(secret)).secret).toBeUndefined();
    expect(await read(one)).toBeUndefined();
  });

  it.each([
    ["name", { ...secret, name: "openai key" }],
    ["value", { ...secret, value: "" }],
    ["value", { ...secret, value: "with\r\nheader: injected" }],
    ["value", { ...secret, value: "k".repeat(9_000) }],
  ])("with an invalid %s is rejected, without the value in the message", async (path, wrong) => {
    const { reason, message, metadata } = await refusal((await instance(NEW)).client.putSecret(wrong));
    expect({ reason, metadata }).toMatchObject({ reason: "INVALID_REQUEST", metadata: { issues: [{ path }] } });
    expect(message).not.toContain("injected");
  });

  it("is rejected beyond an owner's maximum, but can be replaced", async () => {
    const one = await instance(NEW);
    const { secret: storedSecret } = await one.client.putSecret(secret);
    const row = (await rows().findOne({}))!;
    await rows().insertMany(Array.from({ length: 199 }, (_, index) => ({ ...row, _id: `platform K${index}`, name: `K${index}` })));
    expect((await refusal(one.client.putSecret({ ...secret, name: "ONE_MORE" }))).reason).toBe("PRECONDITION_FAILED");
    expect((await one.client.putSecret(secret)).secret?.name).toBe(storedSecret?.name);
  });
});

describe("the keys of an installation", () => {
  it("without any stores no secrets, and names the missing setting", async () => {
    const one = await instance("");
    expect(await one.client.listSecrets({ owner: "platform" })).toEqual({ secrets: [], configured: false });
    const { kind, reason, message } = await refusal(one.client.putSecret(secret));
    expect({ kind, reason }).toEqual({ kind: "precondition", reason: "NOT_CONFIGURED" });
    expect(message).toContain("SECRETS_KEYS");
  });

  it("can be replaced: secrets are encrypted with the new key at a start, and the old one can be removed", async () => {
    await (await instance(OLD)).client.putSecret(secret);
    const before = (await rows().findOne({}))!;
    expect(await read(await instance(`${NEW},${OLD}`))).toBe(VALUE);
    const after = (await rows().findOne({}))!;
    expect(after).toMatchObject({ revision: before.revision, setAt: before.setAt, hint: "WXYZ" });
    expect(after.keyId).not.toBe(before.keyId);
    expect(await read(await instance(NEW))).toBe(VALUE);
    expect((await refusal(read(await instance(OLD)))).reason).toBe("NOT_CONFIGURED");
  });

  it("with a lost one keep the service running, and the secret must be set again", async () => {
    await (await instance(OLD)).client.putSecret(secret);
    const one = await instance(NEW);
    expect((await refusal(read(one))).message).toMatch(/^OPENAI_API_KEY can't be read: it is encrypted with the key [0-9a-f]{8}/);
    await one.client.putSecret(secret);
    expect(await read(one)).toBe(VALUE);
  });
});
