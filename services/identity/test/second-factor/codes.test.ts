import { newRecoveryCodes, newSecret, parseCode, recoveryHash, stepOf, urlOf } from "../../src/second-factor/codes";

/** Secret in the test vectors of RFC 6238: "12345678901234567890". */
const SECRET = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";
const SECOND = 1_000;

describe("a code of an authenticator", () => {
  it.each([
    [59, "287082", 1],
    [1_111_111_109, "081804", 37_037_036],
    [20_000_000_000, "353130", 666_666_666],
  ])("equals that of RFC 6238 at %d s", (seconds, code, step) => {
    expect(stepOf(SECRET, code, seconds * SECOND)).toBe(step);
  });

  it("is valid from the step before to the step after its own, and no longer", () => {
    const at = (seconds: number): number | undefined => stepOf(SECRET, "287082", seconds * SECOND);
    expect([0, 29, 30, 60, 89].map(at)).toEqual([1, 1, 1, 1, 1]);
    expect([90, 3_600].map(at)).toEqual([undefined, undefined]);
  });

  it("belongs to one secret, which authenticators read from the URL", () => {
    const secret = newSecret();
    expect(secret).toMatch(/^[A-Z2-7]{32}$/);
    expect(stepOf(secret, "287082", 59 * SECOND)).toBeUndefined();
    const url = new URL(urlOf(secret, "ada+loom@example.com"));
    expect(Object.fromEntries(url.searchParams)).toMatchObject({ secret, issuer: "Nodeloom", digits: "6", period: "30" });
    expect(decodeURIComponent(url.pathname)).toBe("/Nodeloom:ada+loom@example.com");
  });
});

describe("recovery codes", () => {
  it("are ten different codes, accepted as shown or typed differently", () => {
    const codes = newRecoveryCodes();
    expect(new Set(codes).size).toBe(10);
    for (const code of codes) {
      const recovery = code.replace("-", "");
      expect(code).toMatch(/^[2-9a-z]{5}-[2-9a-z]{5}$/);
      for (const typed of [code, recovery, ` ${code.toUpperCase()} `]) expect(parseCode(typed)).toEqual({ recovery });
    }
  });

  it("are stored as a hash that depends on the user and the installation", () => {
    const [code = ""] = newRecoveryCodes();
    const hash = recoveryHash("a pepper", "user-1", code);
    expect(hash).not.toContain(code.slice(0, 5));
    expect(recoveryHash("a pepper", "user-1", code.replace("-", ""))).toBe(hash);
    expect(new Set([hash, recoveryHash("a pepper", "user-2", code), recoveryHash("another", "user-1", code)]).size).toBe(3);
  });
});

it.each(["", "12345", "1234567", "abc", "ilo01-ilo01", "١٢٣٤٥٦"])("%j isn't a code", (text) => {
  expect(parseCode(text)).toBeUndefined();
});
