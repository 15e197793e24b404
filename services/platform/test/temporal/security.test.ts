import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigError, temporalSecurity } from "../../src";

const folder = mkdtempSync(join(tmpdir(), "nodeloom-temporal-"));
afterAll(() => rmSync(folder, { recursive: true }));
const file = (name: string): string => {
  writeFileSync(join(folder, name), name);
  return join(folder, name);
};

it("is a plain connection unless a setting requires more", () => {
  expect(temporalSecurity({ TEMPORAL_TLS: "false" })).toEqual({});
});

it.each([
  [{ TEMPORAL_TLS: "true" as const }, { tls: {} }],
  [{ TEMPORAL_API_KEY: "a key" }, { tls: {}, apiKey: "a key" }],
  [{ TEMPORAL_TLS_SERVER_NAME: "temporal" }, { tls: { serverNameOverride: "temporal" } }],
])("is TLS with %j", (config, expected) => {
  expect(temporalSecurity(config)).toEqual(expected);
});

it("reads its files", () => {
  const [ca, crt, key] = ["ca", "crt", "key"].map(file);
  expect(temporalSecurity({ TEMPORAL_TLS_CA_FILE: ca!, TEMPORAL_TLS_CERT_FILE: crt!, TEMPORAL_TLS_KEY_FILE: key! })).toEqual({
    tls: { serverRootCACertificate: Buffer.from("ca"), clientCertPair: { crt: Buffer.from("crt"), key: Buffer.from("key") } },
  });
});

it("names the missing file", () => {
  expect(() => temporalSecurity({ TEMPORAL_TLS_CERT_FILE: "crt" })).toThrow(ConfigError);
  expect(() => temporalSecurity({ TEMPORAL_TLS_CA_FILE: join(folder, "absent") })).toThrow(/^TEMPORAL_TLS_CA_FILE can't be read: ENOENT/);
});
