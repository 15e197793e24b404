import { isConfidential, isSecretHost, secretHost } from "@nodeloom/kernel";

it.each([
  ["api.example.com", "api.example.com"],
  ["API.Example.com", "api.example.com"],
  ["bücher.example", "xn--bcher-kva.example"],
  ["example.com:8443", "example.com:8443"],
  ["example.com:080", "example.com:80"],
  ["127.0.0.1:9099", "127.0.0.1:9099"],
  ["0x7f.1", "127.0.0.1"],
  ["[::1]:8080", "[::1]:8080"],
  ["[2001:DB8::1]", "[2001:db8::1]"],
])("accepts %s as the host %s", (entry, host) => expect(secretHost(entry)).toBe(host));

it.each([
  "",
  "https://example.com",
  "example.com/",
  "example.com/path",
  "user@example.com",
  "user:pass@example.com",
  "example.com:443@evil.test",
  "example.com#evil.test",
  "example.com?x",
  "example.com\\evil.test",
  "*.example.com",
  "example.com.",
  ".example.com",
  "example.com:",
  "example.com:0",
  "example.com:70000",
  "example.com:8080:9",
  "exa mple.com",
  "example.com\r\nevil.test",
  "[::1",
  "::1",
  "999.1.1.1",
  `${"a".repeat(300)}.com`,
])("rejects %j as a host", (entry) => expect(secretHost(entry)).toBeUndefined());

it.each([
  [["x.test"], "https://x.test/a", true],
  [["x.test"], "https://X.TEST:443/a", true],
  [["x.test:443"], "https://x.test/a", true],
  [["x.test"], "https://x.test:8443/a", false],
  [["x.test:8443"], "https://x.test:8443/a", true],
  [["x.test:8443"], "https://x.test/a", false],
  [["x.test"], "https://x.test.evil.test/a", false],
  [["x.test"], "https://evil.test/x.test", false],
  [["x.test"], "https://x.test@evil.test/", false],
  [["x.test"], "https://sub.x.test/", false],
  [["x.test"], "https://x.test./", false],
  [["127.0.0.1:9099"], "http://127.0.0.1:9099/", true],
  [["127.0.0.1"], "http://127.0.0.1/", true],
  [[], "https://x.test/", false],
] as const)("hosts %j match %s: %s", (hosts, url, expected) => expect(isSecretHost(hosts, new URL(url))).toBe(expected));

it.each([
  ["https://x.test/", true],
  ["http://x.test/", false],
  ["http://127.0.0.1:9/", true],
  ["http://localhost:9/", true],
  ["http://[::1]:9/", true],
  ["http://localhost.evil.test/", false],
  ["http://127.0.0.1.evil.test/", false],
  ["ftp://127.0.0.1/", false],
])("sends by %s: %s", (url, expected) => expect(isConfidential(new URL(url))).toBe(expected));
