import { loadConfig } from "@nodeloom/platform";
import { z } from "zod";
import { identityId } from "../../src/oidc/accounts";
import { isAdminByClaim, isAllowedDomain, tierByClaim, toClaims } from "../../src/oidc/claims";
import { oidcSettings, oidcVariables } from "../../src/oidc/settings";

const GIVEN = { OIDC_ISSUER: "https://id.example.com/", OIDC_CLIENT_ID: "nodeloom", OIDC_CLIENT_SECRET: "secret" };
const read = (env: Record<string, string>, mode = "production") =>
  oidcSettings({ ...loadConfig(z.object(oidcVariables), env), NODE_ENV: mode });

describe("the settings of a provider", () => {
  it("are absent without any of them, and require all three with one of them", () => {
    expect(read({})).toBeUndefined();
    expect(read(GIVEN)).toMatchObject({ name: "id.example.com", scopes: ["openid", "email", "profile"], approves: false, admins: [] });
    for (const name of Object.keys(GIVEN)) expect(() => read({ ...GIVEN, [name]: "" })).toThrow("or none");
  });

  it.each([
    [{ OIDC_ISSUER: "id.example.com" }, "OIDC_ISSUER"],
    [{ OIDC_ISSUER: "http://id.example.com" }, "must be https in production"],
    [{ OIDC_ADMINS: "admins" }, "OIDC_ADMINS"],
    [{ OIDC_TIERS: "groups=media" }, "OIDC_TIERS"],
  ])("are rejected with %j", (env, problem) => {
    expect(() => read({ ...GIVEN, ...env })).toThrow(problem);
  });
});

describe("claims", () => {
  const settings = read({
    ...GIVEN,
    OIDC_ALLOWED_DOMAINS: "Example.com",
    OIDC_ADMINS: "groups=loom admins,https://example.com/admin=true",
    OIDC_TIERS: "groups=film:business,groups=everybody:pro",
  })!;
  const claims = (all: Record<string, unknown>) => toClaims("https://id.example.com/", { sub: "1", ...all });

  it.each([
    [{ groups: ["everybody", "loom admins"] }, true, "pro"],
    [{ groups: ["everybody", "film"] }, false, "business"],
    [{ groups: "loom admins" }, true, undefined],
    [{ "https://example.com/admin": true }, true, undefined],
    [{ groups: ["loom admins and others"] }, false, undefined],
    [{}, false, undefined],
  ])("of %j give the configured role (%s) and tier (%s)", (all, admin, tier) => {
    expect([isAdminByClaim(claims(all), settings), tierByClaim(claims(all), settings)]).toEqual([admin, tier]);
  });

  it.each([
    [true, true],
    ["true", false],
    [1, false],
    [undefined, false],
  ])("with email_verified %j have a verified address: %s", (isVerified, verified) => {
    expect(claims({ email: " Ada@Example.com", email_verified: isVerified })).toMatchObject({
      email: "ada@example.com",
      emailVerified: verified,
    });
  });

  it("make an administrator, give a tier or allow an address only if the provider has verified it", () => {
    const byAddress = read({
      ...GIVEN,
      OIDC_ALLOWED_DOMAINS: "example.com",
      OIDC_ADMINS: "email=ada@example.com",
      OIDC_TIERS: "email=ada@example.com:business",
    })!;
    for (const verified of [true, false, "true", undefined]) {
      const allClaims = claims({ email: "ada@example.com", email_verified: verified });
      const granted = [isAdminByClaim(allClaims, byAddress), tierByClaim(allClaims, byAddress), isAllowedDomain(allClaims, byAddress)];
      expect(granted).toEqual(verified === true ? [true, "business", true] : [false, undefined, false]);
    }
  });

  it.each([
    ["ada@example.com", true],
    ["ada@sub.example.com", false],
    ["ada@example.com.evil.test", false],
    [undefined, false],
  ])("of %s can sign in if one domain is allowed: %s", (email, allowed) => {
    expect(isAllowedDomain(claims({ email, email_verified: true }), settings)).toBe(allowed);
  });
});

it("treats the same subject of another issuer as another person", () => {
  const own = { issuer: "https://id.example", subject: "ada" };
  expect(identityId({ ...own })).toBe(identityId(own));
  expect(identityId({ ...own, issuer: "https://another.example" })).not.toBe(identityId(own));
  expect(identityId({ ...own, subject: "grace" })).not.toBe(identityId(own));
});
