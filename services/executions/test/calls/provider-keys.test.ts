import { unavailable } from "@nodeloom/kernel";
import { createEgressClient, type EgressClient } from "@nodeloom/platform";
import type { identity } from "@nodeloom/proto";
import type { Models } from "../../src/clients";
import { createKeyTest, createProviderKeys, type ReadSecret } from "../../src/calls/provider-keys";
import { startRecorder, type Recorder } from "../../../../test-support/recorder";
import { createTransport } from "@nodeloom/providers";

type Read = (request: identity.ReadSecretsRequest) => Promise<identity.ReadSecretsResponse>;
const AUTH = { secretEnv: "OPENAI_API_KEY", scheme: "Bearer" };
const URL_OF = "https://api.openai.com/v1/models";
const keysOf = (readSecrets: Read, env: Record<string, string> = {}): ReadSecret => createProviderKeys({ readSecrets }, env);

describe("the key of a provider", () => {
  it("comes from the environment, then from the entry, and then from the console", async () => {
    const requests: string[] = [];
    const read: Read = ({ owner, names }) => {
      requests.push(`${owner} ${names.join()}`);
      return Promise.resolve({ values: { OPENAI_API_KEY: "from identity" }, hosts: {} });
    };
    expect(await keysOf(read, { OPENAI_API_KEY: "from the environment" })(AUTH, URL_OF)).toBe("from the environment");
    expect(await keysOf(read)({ ...AUTH, default: "usual" }, URL_OF)).toBe("usual");
    expect(requests).toEqual([]);
    expect(await keysOf(read)(AUTH, URL_OF)).toBe("from identity");
    expect(requests).toEqual(["platform OPENAI_API_KEY"]);
  });

  it.each([
    ["https://api.openai.com/v1/chat", true],
    ["http://api.openai.com/v1/chat", false],
    ["https://api.openai.com:8443/v1/chat", false],
    ["https://api.openai.com.evil.test/v1/chat", false],
    ["https://eu.files.example/a", true],
    ["https://files.example/a", false],
    ["http://eu.files.example/a", false],
  ])("is used only at the addresses that it was stored for: at %s, %s", async (url, isUsed) => {
    const hosts = { OPENAI_API_KEY: { hosts: ["https://api.openai.com", "*.files.example"], workflows: [] } };
    const read: Read = () => Promise.resolve({ values: { OPENAI_API_KEY: "stored" }, hosts });
    expect(await keysOf(read)(AUTH, url)).toBe(isUsed ? "stored" : undefined);
  });

  it("isn't used a second after its removal, and is used while look-ups fail", async () => {
    jest.useFakeTimers({ doNotFake: ["nextTick", "queueMicrotask"] });
    try {
      let answer: () => ReturnType<Read> = () => Promise.resolve({ values: { OPENAI_API_KEY: "one" }, hosts: {} });
      const key = keysOf(() => answer());
      expect(await key(AUTH, URL_OF)).toBe("one");
      answer = () => Promise.reject(unavailable("identity is away"));
      jest.advanceTimersByTime(60_000);
      expect(await key(AUTH, URL_OF)).toBe("one");
      answer = () => Promise.resolve({ values: {}, hosts: {} });
      jest.advanceTimersByTime(1_000);
      expect(await key(AUTH, URL_OF)).toBeUndefined();
    } finally {
      jest.useRealTimers();
    }
  });
});

describe("calls of a provider with a key from the console", () => {
  let server: Recorder;
  let egress: EgressClient;
  let baseUrl: string;
  let answer: { status: number; body: string };
  beforeAll(async () => {
    server = await startRecorder((response) => response.writeHead(answer.status).end(answer.body));
    baseUrl = `${server.url}/v1`;
    egress = createEgressClient({ allow: [server.address] });
  });
  beforeEach(() => {
    server.requests.length = 0;
    answer = { status: 200, body: "{}" };
  });
  afterAll(async () => {
    await egress.close();
    await server.close();
  });
  const call = { method: "GET", url: "" };

  it("use the current key, and no sent key is ever shown", async () => {
    let secret = "first-key-of-the-console";
    const transport = createTransport({ egress, secret: () => Promise.resolve(secret) }, { auth: AUTH });
    await transport.json({ ...call, url: baseUrl });
    secret = "second-key-of-the-console";
    answer = { status: 401, body: '{"error": {"message": "not first-key-of-the-console, second-key-of-the-console"}}' };
    const transportError = await transport.json({ ...call, url: baseUrl }).catch((error: unknown) => error);
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([
      "Bearer first-key-of-the-console",
      "Bearer second-key-of-the-console",
    ]);
    expect(transportError).toMatchObject({ kind: "refused", status: 401, body: '{"error": {"message": "not [secret], [secret]"}}' });
    expect(transport.reason("it was second-key-of-the-console")).toBe("it was [secret]");
  });

  it("are not sent while the key can't be read, and can be repeated", async () => {
    const transport = createTransport({ egress, secret: () => Promise.reject(unavailable("identity is away")) }, { auth: AUTH });
    await expect(transport.json({ ...call, url: baseUrl })).rejects.toMatchObject({ kind: "unavailable", retryAfterMs: 1_000 });
    expect(server.requests).toEqual([]);
  });

  const test = (secret: string | undefined, provider: Record<string, unknown> = { auth: AUTH }) => {
    const providerJson = JSON.stringify({ kind: "llm", baseUrl, ...provider });
    const listModels = () => Promise.resolve({ models: [{ providerJson: JSON.stringify({ baseUrl }) }, { providerJson }], revision: "" });
    return createKeyTest({ egress, secret: () => secret, models: { listModels } as unknown as Models });
  };

  it("can test a key before: a working one, a rejected one, none, and one that can't be tested", async () => {
    expect(await test("a-working-key-of-ours")("OPENAI_API_KEY")).toEqual({ outcome: "works", message: "", providerStatus: 0 });
    expect(server.requests).toMatchObject([{ path: "/v1/models", headers: { authorization: "Bearer a-working-key-of-ours" } }]);
    answer = { status: 401, body: '{"error": {"message": "Incorrect API key provided: a-wrong-key-of-ours"}}' };
    const result = await test("a-wrong-key-of-ours")("OPENAI_API_KEY");
    expect(result).toEqual({
      outcome: "refused",
      message: "the provider answered 401: it does not accept the platform's key",
      providerStatus: 401,
    });
    expect(await test(undefined)("OPENAI_API_KEY")).toMatchObject({ outcome: "not_set" });
    expect(await test("a-key", { auth: { secretEnv: "FAL_KEY" } })("FAL_KEY")).toMatchObject({ outcome: "not_testable" });
    await expect(test("a-key")("OTHER_KEY")).rejects.toMatchObject({ reason: "NOT_FOUND" });
  });

  it("that can't be reached have distinct errors", async () => {
    const lonely = { auth: AUTH, baseUrl: "http://127.0.0.1:1/v1" };
    expect(await test("a-key", lonely)("OPENAI_API_KEY")).toMatchObject({ outcome: "unreachable", providerStatus: 0 });
  });
});
