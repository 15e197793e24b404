import { createLogger, withRequestContext, type Logger } from "../../src";
import { growth } from "../../../../test-support/growth";

const KEY = "nl_live_AbCdEfGhIjKlMnOpQrStUvWxYz0123_x7Kq2Z";
const WEBHOOK_SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const HOOK_SECRET = "nlh_Hq3-6lXb0_Zt9mVwR2yKc7sPdJfA1nGoUeTiLxB8Q4M";
const HIDDEN = "hunter2hunter2";

let lines: string[] = [];
beforeEach(() => (lines = []));
const create = (level = "trace"): Logger => createLogger("billing", level, { write: (line: string) => void lines.push(line) });
const logged = (entry: object, message = "said"): Record<string, unknown> => {
  create().info(entry, message);
  return JSON.parse(lines[0]!) as Record<string, unknown>;
};

const deep = (depth: number, leaf: object): object => (depth === 0 ? leaf : { [`level${depth}`]: deep(depth - 1, leaf) });

describe("a secret never reaches a log", () => {
  const NAMES = [
    "password",
    "newPassword",
    "passphrase",
    "secret",
    "clientSecret",
    "webhookSecret",
    "API_KEY_PEPPER",
    "SESSION_SECRET",
    "BOOTSTRAP_ADMIN_PASSWORD",
    "apiKey",
    "api_key",
    "x-api-key",
    "X-API-Key",
    "xi-api-key",
    "authorization",
    "Authorization",
    "proxy-authorization",
    "cookie",
    "set-cookie",
    "token",
    "accessToken",
    "refresh_token",
    "privateKey",
    "key",
    "value",
  ];
  it.each(NAMES)("as %s, at any depth", (name) => {
    for (let depth = 0; depth < 7; depth += 1) {
      lines = [];
      logged(deep(depth, { [name]: HIDDEN, beside: "shown" }));
      expect(lines[0]).not.toContain("hunter2");
      expect(lines[0]).toContain("shown");
    }
  });

  it.each<[string, object]>([
    ["the headers of a request", { req: { headers: { cookie: `nodeloom_session=${HIDDEN}`, "x-api-key": HIDDEN } } }],
    ["the headers of an error's configuration", { err: Object.assign(new Error("x"), { config: { headers: { Authorization: HIDDEN } } }) }],
    ["a list of headers", { response: { headers: { "set-cookie": [`a=${HIDDEN}`, `b=${HIDDEN}`] } } }],
    [
      "a list of objects",
      {
        keys: [
          { id: 1, key: HIDDEN },
          { id: 2, key: HIDDEN },
        ],
      },
    ],
    ["an object of secrets", { user: { secrets: { current: HIDDEN, previous: [HIDDEN] } } }],
    ["a value with quotes and escapes", { a: { b: { password: `"${HIDDEN}\\"\n\\\\"${HIDDEN}` } } }],
    ["JSON in a text", { body: JSON.stringify({ user: { password: `${HIDDEN}"\\${HIDDEN}`, name: "shown" } }) }],
    ["indented JSON in a text", { body: JSON.stringify({ apiKey: HIDDEN }, null, 2) }],
    ["JSON in an error's message", { err: new Error(`refused: ${JSON.stringify({ authorization: HIDDEN })}`) }],
    ["the cause of an error", { err: new Error("outer", { cause: new Error(`mongodb://root:${HIDDEN}@db:27017`) }) }],
    ["a URL with credentials", { url: `mongodb+srv://root:${HIDDEN}@db.example.com/?w=majority` }],
    ["a URL with a password alone", { reason: `connect redis://:${HIDDEN}@127.0.0.1:6379 failed` }],
    ["a URL with a long password", { url: `amqp://root:${"x".repeat(400)}${HIDDEN}@mq` }],
    ["a URL with a key", { url: `https://example.com/v1?model=a&api_key=${HIDDEN}&n=1` }],
    ["a bearer token in a text", { reason: `sent authorization: Bearer ${HIDDEN}${HIDDEN}` }],
    ["a provider's key in a text", { reason: `Incorrect API key provided: sk-proj-${HIDDEN}abcdefgh` }],
  ])("in %s", (_name, entry) => {
    logged(entry);
    expect(lines[0]).not.toContain("hunter2");
    expect(lines[0]).toContain("[redacted]");
  });

  it.each([KEY, WEBHOOK_SECRET, HOOK_SECRET])("as %s, in any text, message or stack", (secret) => {
    const logger = create();
    const entries: object[] = [
      { note: `used ${secret}.` },
      { err: new Error(`no such key: ${secret}`) },
      { list: [[secret]] },
      { [secret]: 1 },
    ];
    for (const entry of entries) logger.info(entry, `message with ${secret}`);
    logger.child({ bound: secret, headers: { authorization: secret } }).warn("child");
    logger.error(new Error(`stack ${secret}`));
    logger.info("formatted %s %j", secret, { deep: { secret } });
    expect(lines).toHaveLength(7);
    for (const line of lines) {
      expect(line).not.toContain(secret.slice(-12));
      expect(() => JSON.parse(line) as unknown).not.toThrow();
    }
  });
});

describe("a log line", () => {
  it("has time, level by name, the service and the message", () => {
    const line = logged({ userId: "u1" });
    expect(line).toMatchObject({ level: "info", name: "billing", userId: "u1", msg: "said" });
    expect(new Date(line.time as string).toISOString()).toBe(line.time);
    expect(line).not.toHaveProperty("pid");
  });

  it("has the request's id inside a request, and none outside", () => {
    expect(withRequestContext({ requestId: "r1" }, () => logged({}))).toMatchObject({ requestId: "r1" });
    lines = [];
    expect(logged({})).not.toHaveProperty("requestId");
  });

  it("keeps everything that isn't secret", () => {
    const entry = {
      keyId: "k1",
      maxTokens: 100,
      tokens: { input: 1 },
      model: "sandbox-chat",
      url: "https://example.com/a?page=2",
      mail: "someone@example.com",
      reason: "the key was not recorded: basic checks failed",
      executionId: "nl_run",
      values: ["a", "b"],
      code: 11_000,
    };
    expect(logged(entry)).toMatchObject(entry);
  });

  it("has an error's type, message and stack", () => {
    const { err } = logged({ err: new TypeError("it broke") }) as { err: Record<string, string> };
    expect(err).toMatchObject({ type: "TypeError", message: "it broke" });
    expect(err.stack).toContain("logger.test");
  });

  it("is written only from its level on", () => {
    const logger = create("warn");
    logger.info("quiet");
    logger.warn("loud");
    expect(lines).toHaveLength(1);
  });

  it.each(["a.", '"', "\\", "key", "http://", '\\"key\\":'])("takes time proportional to its text, and not to its square: %s", (piece) => {
    const texts = [100_000, 400_000].map((length) => piece.repeat(length / piece.length));
    const [small, large] = texts.map((text) => () => logged({ text })) as [() => unknown, () => unknown];
    expect(growth(small, large)).toBeLessThan(10);
  });
});
