import type { LookupAddress } from "node:dns";
import { createAddressRules, type Lookup } from "../../src";

const OWN = "http://127.0.0.1:8080/media/";

const answering =
  (names: Readonly<Record<string, readonly string[]>>): Lookup =>
  (host, _options, callback) => {
    const addresses = names[host];
    if (!addresses) return callback(Object.assign(new Error("not found"), { code: "ENOTFOUND" }), []);
    return callback(
      null,
      addresses.map((address): LookupAddress => ({ address, family: address.includes(":") ? 6 : 4 })),
    );
  };

const rules = createAddressRules({
  allow: ["10.0.0.9:80", "friend.test:443"],
  own: OWN,
  lookup: answering({
    "public.test": ["93.184.216.34"],
    "inside.test": ["10.0.0.1"],
    "half.test": ["93.184.216.34", "::1"],
    "friend.test": ["10.0.0.2"],
  }),
});

it.each([
  ["http://10.0.0.1/x.png", /^refused to call 10\.0\.0\.1: it is not a public address$/],
  ["http://[::1]:9000/x.png", /^refused to call \[::1\]:9000: /],
  ["http://localhost/x.png", /^refused to call localhost: /],
  ["http://a.localhost:3000/x.png", /^refused to call a\.localhost:3000: /],
  ["http://169.254.169.254/latest", /^refused to call 169\.254\.169\.254: /],
  ["ftp://public.test/x.png", /^refused to call public\.test: only http and https/],
  ["javascript:alert(1)", /^refused to call this address: only http and https/],
  ["http://127.0.0.1:8080/media/../api/me", /^refused to call 127\.0\.0\.1:8080: /],
  ["http://127.0.0.1:8080/media/%2e%2e/api/me", /^refused to call 127\.0\.0\.1:8080: /],
  ["http://127.0.0.1:8081/media/x.png", /^refused to call 127\.0\.0\.1:8081: /],
  ["https://public.test:22/x.png", /^refused to call public\.test:22: its port/],
])("%s is rejected without a look-up, and by its host's name", (url, message) => {
  expect(rules.problem(url)).toMatch(message);
});

it.each(["https://public.test/x.png", "http://10.0.0.9/x.png", "https://friend.test/x.png", `${OWN}key.png`])(
  "%s is accepted",
  async (url) => {
    expect(rules.problem(url)).toBeUndefined();
    expect(await rules.resolvedProblem(url)).toBeUndefined();
  },
);

it.each(["inside.test", "half.test"])("a name that resolves to an internal address is rejected after the look-up: %s", async (host) => {
  expect(rules.problem(`https://${host}/x.png`)).toBeUndefined();
  expect(await rules.resolvedProblem(`https://${host}/x.png`)).toBe(
    `refused to call ${host}: its name does not resolve to public addresses only`,
  );
});

it("allows a name without an address, or whose look-up doesn't end", async () => {
  expect(await rules.resolvedProblem("https://nowhere.test/x.png")).toBeUndefined();
  const silent = createAddressRules({ lookup: () => undefined, lookupTimeoutMs: 5 });
  expect(await silent.resolvedProblem("https://public.test/x.png")).toBeUndefined();
});
