import fc from "fast-check";
import { elements, isInexactInteger, members, parseExact, valuesIn, withMember } from "@nodeloom/kernel/json-text";

const spaced = fc.json().map((json) => json.replaceAll(/([,:{}[\]])/g, (mark) => mark));

describe("JSON as text", () => {
  it("splits any array into equal elements", () => {
    fc.assert(
      fc.property(fc.array(spaced, { maxLength: 8 }), fc.constantFrom("", " ", "\n  "), (texts, gap) => {
        const array = `[${gap}${texts.join(`${gap},${gap}`)}${gap}]`;
        expect(elements(array).map((text) => JSON.parse(text) as unknown)).toEqual(JSON.parse(array));
      }),
    );
  });

  it("reads every digit of an integer that a double would round, as text, at any position", () => {
    const text =
      '{"id": 7615917337495251231, "in": [-9007199254740993, [18446744073709551615]], "7615917337495251231": "7615917337495251231"}';
    expect(parseExact(text)).toEqual({
      id: "7615917337495251231",
      in: ["-9007199254740993", ["18446744073709551615"]],
      "7615917337495251231": "7615917337495251231",
    });
    const exactJson =
      '[9007199254740991, -9007199254740991, 1234567890123456, 100000000000000000000, 0.12345678901234567, 1.5e300, "\\"9007199254740993"]';
    expect(parseExact(exactJson)).toEqual(JSON.parse(exactJson));
    expect(() => parseExact("{7615917337495251231: 1}")).toThrow(SyntaxError);
  });

  it("reads any JSON without such integers as JSON.parse does, and any integer as its digits or its number", () => {
    fc.assert(
      fc.property(fc.json(), fc.bigInt(), (json, integer) => {
        const parsed = parseExact(`[${json},${integer}]`) as [unknown, string | number];
        expect(String(parsed[1])).toBe(String(integer));
        expect(typeof parsed[1]).toBe(isInexactInteger(String(integer)) ? "string" : "number");
        expect(parsed[0]).toEqual((JSON.parse(`[${json}]`) as unknown[])[0]);
      }),
    );
  });

  it("finds the end of any long text, with any escapes", () => {
    const long = fc
      .array(fc.constantFrom('"', "\\", "x".repeat(255), "x".repeat(256), "x".repeat(600)), { maxLength: 12 })
      .map((parts) => parts.join(""));
    fc.assert(
      fc.property(fc.array(long, { maxLength: 4 }), (texts) => {
        expect(elements(JSON.stringify(texts)).map((text) => JSON.parse(text) as unknown)).toEqual(texts);
      }),
      { numRuns: 1_000 },
    );
  });

  it("sets one member of any object and keeps the text of every other", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 6 }), fc.string(), fc.jsonValue(), (object, name, value) => {
        const text = JSON.stringify(object, undefined, 2);
        const next = withMember(text, [name], JSON.stringify(value));
        const [before, after] = [members(text), members(next)];
        expect(JSON.parse(after.get(name)!)).toEqual(JSON.parse(JSON.stringify(value)));
        for (const [other, was] of before) if (other !== name) expect(after.get(other)).toBe(was);
        expect(members(withMember(next, [name], undefined)).has(name)).toBe(false);
      }),
    );
  });

  it("counts every value, except those inside texts", () => {
    expect(['""', "[]", " { } ", "[1]", '[[],{},"[,]\\\\",""]', '{"a":[1,2],"a":{"b":null}}'].map(valuesIn)).toEqual([1, 1, 1, 2, 5, 6]);
    const count = (value: unknown): number =>
      typeof value === "object" && value !== null ? Object.values(value).reduce((sum: number, one) => sum + count(one), 1) : 1;
    fc.assert(fc.property(spaced, (text) => expect(valuesIn(` ${text}\n`)).toBe(count(JSON.parse(text)))));
  });

  it("keeps spellings that parsing would lose", () => {
    const text = '{"n":1.0,"big":12345678901234567890,"10":1,"2":2,"__proto__":{"a":1},"data":{"text":"x"}}';
    const next = withMember(text, ["data", "text"], '"y"');
    expect(next).toBe(text.replace('"x"', '"y"'));
    expect(withMember(text, ["data", "text"], undefined)).toBe(text.replace('"text":"x"', ""));
    expect(withMember(text, ["data", "inputs", "count"], "2")).toBe(text.replace('"text":"x"', '"text":"x","inputs":{"count":2}'));
    expect(members(text).get("__proto__")).toBe('{"a":1}');
  });
});
