import * as fc from "fast-check";
import { classifyKeyValue, generateKeyValue, hashKeyValue } from "../src/keys/key-value";

const PRINTABLE = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index));

describe("the value of a key", () => {
  it("has the documented form and its own checksum", () => {
    for (const environment of ["live", "local", "x"]) {
      const value = generateKeyValue(environment);
      expect(value).toMatch(new RegExp(`^nl_${environment}_[0-9A-Za-z]{30}_[0-9A-Za-z]{6}$`));
      expect(classifyKeyValue(value)).toBe("current");
    }
  });

  it("keeps its form permanently", () => {
    expect(classifyKeyValue("nl_live_000000000000000000000000000000_2XwnTW")).toBe("current");
  });

  it("is rejected after any change of a single character", () => {
    const value = generateKeyValue("live");
    for (let position = 0; position < value.length; position += 1) {
      for (const character of PRINTABLE.filter((candidate) => candidate !== value[position])) {
        const changed = value.slice(0, position) + character + value.slice(position + 1);
        expect([changed, classifyKeyValue(changed)]).toEqual([changed, "malformed"]);
      }
    }
  });

  it("is rejected if two neighbours are swapped, if it is truncated and if it is extended", () => {
    fc.assert(
      fc.property(fc.nat(44), (position) => {
        const value = generateKeyValue("live");
        const swapped = value.slice(0, position) + value.charAt(position + 1) + value.charAt(position) + value.slice(position + 2);
        if (swapped !== value) expect(classifyKeyValue(swapped)).toBe("malformed");
        expect(classifyKeyValue(value.slice(0, position))).toBe("malformed");
        expect(classifyKeyValue(`${value}\n`)).toBe("malformed");
        expect(classifyKeyValue(` ${value}`)).toBe("malformed");
      }),
    );
  });

  it("is never accepted from arbitrary text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 80 }), (text) => {
        expect(classifyKeyValue(text)).toBe("malformed");
      }),
    );
  });

  it("uses every base62 character about equally often", () => {
    const counts = new Map<string, number>();
    const samples = 2_000;
    for (let sample = 0; sample < samples; sample += 1) {
      for (const character of generateKeyValue("t").slice(5, 35)) counts.set(character, (counts.get(character) ?? 0) + 1);
    }
    const expected = (samples * 30) / 62;
    expect(counts.size).toBe(62);
    for (const count of counts.values()) expect(Math.abs(count - expected)).toBeLessThan(6 * Math.sqrt(expected));
  });

  it("is recognised as retired in the form of the ranked scopes", () => {
    expect(classifyKeyValue(`nl_sk_${"a1B2".repeat(8)}`)).toBe("legacy");
    expect(classifyKeyValue(`nl_sk_${"a1B2".repeat(8)}x`)).toBe("malformed");
  });

  it("is stored as a hash that depends on the pepper", () => {
    const value = generateKeyValue("live");
    expect(hashKeyValue("one", value)).toMatch(/^[0-9a-f]{64}$/);
    expect(hashKeyValue("one", value)).toBe(hashKeyValue("one", value));
    expect(hashKeyValue("one", value)).not.toBe(hashKeyValue("two", value));
  });
});
