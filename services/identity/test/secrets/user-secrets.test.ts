import { randomBytes, randomUUID } from "node:crypto";
import { deploy, refusal, type Deployment, type Instance } from "../support";

const VALUE = "a value of the user's";
const owner = randomUUID();
const secret = { owner, name: "STRIPE_KEY", value: VALUE, hosts: ["api.example.com"], workflows: [], setBy: owner };

let deployment: Deployment;
let one: Instance;
beforeAll(async () => {
  deployment = await deploy();
  one = await deployment.startInstance({ SECRETS_KEYS: randomBytes(32).toString("hex"), USER_EGRESS_ALLOW: "127.0.0.1:9099" });
});
afterAll(() => deployment.stop());

describe("a user's secret", () => {
  it("is read with its value and its hosts, in URL form, and its value is never shown", async () => {
    const { secret: storedSecret } = await one.client.putSecret({
      ...secret,
      hosts: ["API.Example.com", "api.example.com", "127.0.0.1:9099"],
    });
    expect(storedSecret).toMatchObject({ name: secret.name, hint: "", hosts: ["api.example.com", "127.0.0.1:9099"] });
    expect(await one.client.readSecrets({ owner, names: [secret.name, "NONE"] })).toEqual({
      values: { STRIPE_KEY: VALUE },
      hosts: { STRIPE_KEY: { hosts: ["api.example.com", "127.0.0.1:9099"], workflows: [] } },
    });
  });

  it("limited to workflows is read with their slugs, and the next value without them is for all workflows again", async () => {
    const limited = { ...secret, name: "LIMITED", workflows: ["one", "two", "one"] };
    const { secret: storedSecret } = await one.client.putSecret(limited);
    expect(storedSecret?.workflows).toEqual(["one", "two"]);
    const workflowsOf = async () => (await one.client.readSecrets({ owner, names: ["LIMITED"] })).hosts.LIMITED?.workflows;
    expect(await workflowsOf()).toEqual(["one", "two"]);
    await one.client.putSecret({ ...limited, workflows: [] });
    expect(await workflowsOf()).toEqual([]);
    for (const workflows of [["Not A Slug"], Array.from({ length: 51 }, (_, index) => `w-${index}`)])
      expect((await refusal(one.client.putSecret({ ...limited, workflows }))).reason).toBe("INVALID_REQUEST");
  });

  it("keeps the time at which it was first set", async () => {
    const first = (await one.client.putSecret({ ...secret, name: "TIMES" })).secret!;
    const second = (await one.client.putSecret({ ...secret, name: "TIMES", hosts: ["other.example.com"] })).secret!;
    expect(second).toMatchObject({ createdAt: first.createdAt, hosts: ["other.example.com"] });
    expect(second.setAt!.getTime()).toBeGreaterThanOrEqual(first.setAt!.getTime());
  });

  it.each([
    ["hosts", { hosts: [] }],
    ["hosts", { hosts: Array.from({ length: 21 }, (_, index) => `h${index}.example.com`) }],
    ["hosts.1", { hosts: ["api.example.com", "https://api.example.com"] }],
    ["hosts.0", { hosts: ["user@api.example.com"] }],
    ["hosts.0", { hosts: ["169.254.169.254"] }],
    ["hosts.0", { hosts: ["127.0.0.1:1"] }],
    ["value", { value: "short" }],
    ["value", { value: "two\r\nx-lines: here" }],
  ])("is rejected for its %s: %j", async (path, wrong) => {
    const { reason, message, metadata } = await refusal(one.client.putSecret({ ...secret, ...wrong }));
    expect({ reason, metadata }).toMatchObject({ reason: "INVALID_REQUEST", metadata: { issues: [{ path }] } });
    expect(message).not.toContain("x-lines");
  });

  it("is limited in number, also if the last ones are set in parallel", async () => {
    const many = randomUUID();
    const rows = deployment.database.collection<{ _id: string }>("secrets");
    const { secret: storedSecret } = await one.client.putSecret({ ...secret, owner: many });
    const row = (await rows.findOne({ _id: `${many} ${storedSecret!.name}` }))!;
    await rows.insertMany(Array.from({ length: 197 }, (_, index) => ({ ...row, _id: `${many} K${index}`, name: `K${index}` })));
    const set = await Promise.allSettled(
      Array.from({ length: 10 }, (_, index) => one.client.putSecret({ ...secret, owner: many, name: `LAST_${index}` })),
    );
    const stored = (await one.client.listSecrets({ owner: many })).secrets.length;
    expect(stored).toBeLessThanOrEqual(200);
    expect(set.filter(({ status }) => status === "fulfilled")).toHaveLength(stored - 198);
  });
});
