import { identity } from "@nodeloom/proto";
import { deploy, PASSWORD, refusal, type Deployment } from "./support";

const EMAIL = "admin@example.com";
const BOOTSTRAP = { BOOTSTRAP_ADMIN_EMAIL: " Admin@Example.com", BOOTSTRAP_ADMIN_PASSWORD: "a bootstrap password" };
const CREDENTIALS = { email: EMAIL, password: BOOTSTRAP.BOOTSTRAP_ADMIN_PASSWORD };
const ADMIN = { email: EMAIL, role: "admin", tier: "enterprise", approved: true };

let deployment: Deployment;
beforeEach(async () => (deployment = await deploy()));
afterEach(() => deployment.stop());

describe("the bootstrap admin", () => {
  it("is created once by instances that start together and again", async () => {
    const [first] = await Promise.all(Array.from({ length: 3 }, () => deployment.startInstance(BOOTSTRAP)));
    const { user } = await first!.client.login(CREDENTIALS);
    expect(user).toMatchObject(ADMIN);
    const again = await deployment.startInstance(BOOTSTRAP);
    expect((await again.client.login(CREDENTIALS)).user).toEqual(user);
    expect((await again.client.listUsers(identity.ListUsersRequest.fromPartial({}))).users).toHaveLength(1);
  });

  it("is restored if it lost its rights", async () => {
    const { client } = await deployment.startInstance(BOOTSTRAP);
    const { user } = await client.login(CREDENTIALS);
    await client.updateUser({ userId: user!.id, role: "user", tier: "free", approved: false });
    await deployment.startInstance(BOOTSTRAP);
    expect((await client.login(CREDENTIALS)).user).toMatchObject(ADMIN);
  });

  it("can't be taken over by registering its address first", async () => {
    const { client } = await deployment.startInstance();
    await client.register({ email: EMAIL, password: PASSWORD });
    await deployment.startInstance(BOOTSTRAP);
    expect(await refusal(client.login({ email: EMAIL, password: PASSWORD }))).toMatchObject({ reason: "UNAUTHENTICATED" });
    expect((await client.login(CREDENTIALS)).user).toMatchObject(ADMIN);
  });

  it("needs an address and a password", async () => {
    await expect(deployment.startInstance({ BOOTSTRAP_ADMIN_EMAIL: EMAIL })).rejects.toThrow("or neither");
  });
});

describe("the configuration", () => {
  it.each([
    ["API_KEY_PEPPER", "short"],
    ["NODELOOM_ENV", "Live_1"],
    ["REDIS_URL", ""],
  ])("is rejected with the name of an invalid %s", async (name, value) => {
    await expect(deployment.startInstance({ [name]: value })).rejects.toThrow(name);
  });
});
