import { z } from "zod";
import {
  ConfigError,
  hostPort,
  integer,
  list,
  loadConfig,
  processVariables,
  splitHostPort,
  variables,
  type ConfigSchema,
  type Environment,
} from "../src";

const SCHEMA = z.object({
  ...variables,
  LISTEN: hostPort().describe("where it listens"),
  LIMIT: integer(1).default(5).describe("how many at once"),
});
const GOOD = {
  MONGODB_URI: "mongodb://127.0.0.1:27017",
  REDIS_URL: "redis://127.0.0.1:6379",
  PUBLIC_BASE_URL: "https://nodeloom.example",
  LISTEN: "127.0.0.1:8080",
};
const problemOf = (env: Environment, schema: ConfigSchema = SCHEMA): string => {
  try {
    loadConfig(schema, env);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as Error).message;
  }
  throw new Error("the configuration was accepted");
};

describe("a configuration", () => {
  it("is typed, with defaults for optional variables", () => {
    expect(loadConfig(SCHEMA, { ...GOOD, LIMIT: "7", USER_EGRESS_ALLOW: "a:1, [::1]:2 ,," })).toEqual({
      ...GOOD,
      LIMIT: 7,
      USER_EGRESS_ALLOW: ["a:1", "[::1]:2"],
      FORMER_PUBLIC_BASE_URLS: [],
      PROVIDER_EGRESS_ALLOW: [],
      MONGODB_DATABASE_PREFIX: "nodeloom_",
      REDIS_KEY_PREFIX: "nodeloom:",
    });
    expect(loadConfig(SCHEMA, GOOD)).toMatchObject({ LIMIT: 5, USER_EGRESS_ALLOW: [] });
  });

  it("has only declared variables", () => {
    expect(loadConfig(SCHEMA, { ...GOOD, PATH: "/bin", SECRET: "x" })).not.toHaveProperty("SECRET");
  });

  it("can't be changed, including its lists", () => {
    const config = loadConfig(SCHEMA, { ...GOOD, USER_EGRESS_ALLOW: "a:1" }) as Record<string, unknown> & { USER_EGRESS_ALLOW: string[] };
    expect(() => (config.LISTEN = "0.0.0.0:1")).toThrow(TypeError);
    expect(() => (config.NEW = 1)).toThrow(TypeError);
    expect(() => config.USER_EGRESS_ALLOW.push("b:2")).toThrow(TypeError);
  });

  it("describes every missing variable at once", () => {
    const problem = problemOf({});
    expect(problem).toContain("MONGODB_URI is missing: MongoDB server, without a database name");
    expect(problem).toContain("REDIS_URL is missing: Redis server, Sentinels or cluster");
    expect(problem).toContain("PUBLIC_BASE_URL is missing: address of the gateway for clients");
    expect(problem).toContain("LISTEN is missing: where it listens");
    expect(problem.split("\n")).toHaveLength(5);
  });

  it("treats an empty variable as missing", () => {
    expect(problemOf({ ...GOOD, REDIS_URL: "" })).toContain("REDIS_URL is missing");
    expect(loadConfig(SCHEMA, { ...GOOD, LIMIT: "", REDIS_KEY_PREFIX: "" })).toMatchObject({ LIMIT: 5, REDIS_KEY_PREFIX: "nodeloom:" });
  });

  it.each([
    ["MONGODB_URI", "postgres://db", "MongoDB server"],
    ["REDIS_URL", "127.0.0.1:6379", "Redis server"],
    ["PUBLIC_BASE_URL", "nodeloom", "address of the gateway for clients"],
    ["LISTEN", "8080", "where it listens"],
    ["LISTEN", "localhost:", "where it listens"],
    ["LISTEN", "localhost:99999", "where it listens"],
    ["LISTEN", "::1:80", "where it listens"],
    ["LIMIT", "many", "how many at once"],
    ["LIMIT", "1.5", "how many at once"],
    ["LIMIT", "0", "how many at once"],
    ["LIMIT", "-3", "how many at once"],
    ["USER_EGRESS_ALLOW", "sandbox:8090,http://x:80", "private addresses that users can choose"],
    ["USER_EGRESS_ALLOW", "sandbox", "private addresses that users can choose"],
  ])("names a malformed %s (%s) and its purpose, and nothing else", (name, value, purpose) => {
    const lines = problemOf({ ...GOOD, [name]: value }).split("\n");
    expect(lines).toHaveLength(2);
    expect(lines[1]).toMatch(new RegExp(`^  ${name} is malformed \\(.+\\): .*${purpose}`));
  });

  it("doesn't repeat a malformed value, because it can contain a password", () => {
    expect(problemOf({ ...GOOD, MONGODB_URI: "postgres://root:hunter2@db", REDIS_URL: "hunter2", LISTEN: "hunter2" })).not.toContain(
      "hunter2",
    );
    for (const login of ["hunter2", "a:b:hunter2@", ":hunter%2@", ":hunter2", "h?hunter2=1@", ":a@hunter2@"])
      for (const kind of ["sentinel", "cluster"])
        expect(problemOf({ ...GOOD, REDIS_URL: `redis+${kind}://${login}host:x` })).not.toMatch(/hunter/);
  });

  it("of every process has a purpose for each variable", () => {
    for (const schema of Object.values({ ...processVariables, ...variables })) expect(schema.description).toMatch(/\w+ \w+/);
  });

  it.each([
    ["NODE_ENV", "prod"],
    ["LOG_LEVEL", "loud"],
    ["SHUTDOWN_GRACE_MS", "15s"],
  ])("of every process rejects %s=%s", (name, value) => {
    expect(problemOf({ [name]: value }, z.object(processVariables))).toContain(`${name} is malformed`);
  });
});

describe("host:port", () => {
  it.each([
    ["127.0.0.1:80", "127.0.0.1", 80],
    ["localhost:0", "localhost", 0],
    ["[::1]:65535", "::1", 65_535],
    ["a-service.example:8443", "a-service.example", 8_443],
  ])("%s is %s and %i", (address, host, port) => expect(splitHostPort(address)).toEqual({ host, port }));

  it.each(["", ":80", "host", "host:", "host:x", "host:123456", "::1:80", "[::1]", "http://host:80", "host:80/path", "a b:80"])(
    "is not %j",
    (address) => expect(() => splitHostPort(address)).toThrow(ConfigError),
  );
});

it("a list is empty without a value, and has no empty items", () => {
  const parse = (value?: string): unknown => list().parse(value);
  expect([parse(), parse(""), parse(" , ,"), parse("a, b,,c ")]).toEqual([[], [], [], ["a", "b", "c"]]);
});
