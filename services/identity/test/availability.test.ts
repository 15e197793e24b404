import { createKey, deploy, newUser, refusal, startRelay, type Deployment } from "./support";

const PATIENCE = { deadlineMs: 60_000 };

let deployment: Deployment;
beforeAll(async () => (deployment = await deploy()));
afterAll(() => deployment.stop());

describe("while the database is unavailable", () => {
  it("every request that needs it fails as unavailable, and the next one after its return succeeds", async () => {
    const relay = await startRelay(process.env.MONGODB_URI!);
    const uri = new URL(relay.url);
    uri.pathname ||= "/";
    uri.searchParams.set("directConnection", "true");
    const { client } = await deployment.startInstance({ MONGODB_URI: uri.href });
    const user = await newUser(client, { tier: "pro" });
    const { value } = await createKey(client, user.id);
    await relay.cut();
    const calls = [client.getUser({ userId: user.id }, PATIENCE), client.authenticateKey({ value }, PATIENCE)];
    for (const error of await Promise.all(calls.map(refusal))) {
      expect(error).toMatchObject({ kind: "unavailable", reason: "SERVICE_UNAVAILABLE", message: "the database is away" });
    }
    await relay.mend();
    expect((await client.authenticateKey({ value }, PATIENCE)).user).toEqual(user);
    await relay.cut();
  });
});
