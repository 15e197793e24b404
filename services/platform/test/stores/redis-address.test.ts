import { parseRedisAddress, RedisAddressError } from "../../src/redis-address";

const node = (host: string, port: number) => ({ host, port });

describe("an address of Redis", () => {
  it.each(["redis://localhost", "redis://:password@redis:6379/1", "rediss://user:password@redis.example:6380?family=6"])(
    "%s is one server",
    (url) => expect(parseRedisAddress(url)).toEqual({ kind: "server" }),
  );

  it("can name Sentinels", () => {
    expect(parseRedisAddress("redis+sentinel://a:1,b,[::1]:3/main")).toEqual({
      kind: "sentinel",
      tls: false,
      nodes: [node("a", 1), node("b", 26_379), node("::1", 3)],
      primary: "main",
      sentinel: {},
    });
    expect(parseRedisAddress("rediss+sentinel://me:p%40%3A%2F@a/my%20name?sentinelUsername=you&sentinelPassword=%26x")).toEqual({
      kind: "sentinel",
      tls: true,
      nodes: [node("a", 26_379)],
      username: "me",
      password: "p@:/",
      primary: "my name",
      sentinel: { username: "you", password: "&x" },
    });
  });

  it("can name a cluster", () => {
    const cluster = { kind: "cluster", tls: false, nodes: [node("a", 7_000), node("b", 6_379)], password: "x:y" };
    expect(parseRedisAddress("redis+cluster://:x:y@a:7000,b")).toEqual(cluster);
    expect(parseRedisAddress("rediss+cluster://:x:y@a:7000,b/")).toEqual({ ...cluster, tls: true });
  });

  it.each([
    ["host:6379", /redis:\/\/host:6379, redis\+sentinel:/],
    ["redis:host", /redis:\/\/host:6379, redis\+sentinel:/],
    ["redis+other://a", /redis:\/\/host:6379, redis\+sentinel:/],
    ["redis://", /host or the port is missing/],
    ["redis://a:b", /host or the port is missing/],
    ["redis+sentinel://a:1", /name of the primary must follow/],
    ["redis+sentinel://a:1/", /name of the primary must follow/],
    ["redis+sentinel://a:1/main/0", /write redis:/],
    ["redis+sentinel://a:1/main?password=x", /only sentinelUsername and sentinelPassword/],
    ["redis+sentinel://a:1/%zz", /%25/],
    ["redis+sentinel://x@a:1/main", /user:password@/],
    ["redis+cluster://", /host 1 of the list must be host:port/],
    ["redis+cluster://a:1,", /host 2 of the list/],
    ["redis+cluster://a:1,b:99999", /host 2 of the list/],
    ["redis+cluster://a:0", /host 1 of the list/],
    ["redis+cluster://a:1, b:2", /host 2 of the list/],
    ["redis+cluster://::1:6379", /host 1 of the list/],
    ["redis+cluster://a:1/0", /one database/],
    ["redis+cluster://a:1?tls=1", /one database/],
  ])("isn't %s, and the error says why", (url, problem) => {
    expect(() => parseRedisAddress(url)).toThrow(RedisAddressError);
    expect(() => parseRedisAddress(url)).toThrow(problem);
  });
});
