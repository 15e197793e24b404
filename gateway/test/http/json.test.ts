import fc from "fast-check";
import { members as membersOf } from "@nodeloom/kernel/json-text";
import { raw, toJson } from "../../src/http/json";

/** JSON text with arbitrary white space between its tokens. */
const spaced = fc
  .tuple(fc.json({ maxDepth: 4 }), fc.array(fc.constantFrom("", " ", "\n", "\t", "\r\n  "), { minLength: 1, maxLength: 7 }))
  .map(([text, gaps]) => {
    let out = "";
    let inString = false;
    let turn = 0;
    for (let at = 0; at < text.length; at += 1) {
      const character = text[at]!;
      if (character === '"' && text[at - 1] !== "\\") inString = !inString;
      out += character;
      if (inString && character === "\\") out += text[(at += 1)]!;
      else if (!inString && '{}[],:"'.includes(character)) out += gaps[turn++ % gaps.length]!;
    }
    return out;
  });

describe("slicing the members of a JSON object", () => {
  it("returns every member's own text, for any JSON", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.string(), spaced), { maxLength: 8 }), fc.constantFrom("", " ", "\n\t"), (members, gap) => {
        const text = `${gap}{${gap}${members.map(([name, value]) => `${JSON.stringify(name)}${gap}:${gap}${value.trim()}`).join(`${gap},${gap}`)}${gap}}${gap}`;
        const expected = new Map(members.map(([name, value]) => [name, value.trim()]));
        expect([...membersOf(text)].sort()).toEqual([...expected].sort());
      }),
    );
  });

  it("finds the same members as JSON.parse, and slices that parse to the same values", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.constantFrom(0, 2), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        const parsed = JSON.parse(text) as Record<string, unknown>;
        const members = membersOf(text);
        expect([...members.keys()].sort()).toEqual(Object.keys(parsed).sort());
        for (const [name, slice] of members) expect(JSON.parse(slice)).toEqual(parsed[name]);
      }),
    );
  });

  it.each([
    ["numbers no float can hold", '{"n":[12345678901234567890,1.10,1e400,-0]}', "n", "[12345678901234567890,1.10,1e400,-0]"],
    ["duplicate members inside a value", '{"n":{"a":1,"a":2}}', "n", '{"a":1,"a":2}'],
    ["the last of duplicate names", '{"n":1,"n":2}', "n", "2"],
    ["names of the prototype", '{"__proto__":{"x":1},"n":{"__proto__":null}}', "__proto__", '{"x":1}'],
    ["escaped names", '{"\\u006e":"\\ud83d\\ude00\\u0000"}', "n", '"\\ud83d\\ude00\\u0000"'],
    ["brackets and quotes inside strings", '{"a":"}\\"]{,","n":"\\\\"}', "n", '"\\\\"'],
    ["an empty value", '{"n":""}', "n", '""'],
  ])("keeps %s", (_what, text, name, slice) => {
    expect(membersOf(text).get(name)).toBe(slice);
  });
});

describe("writing JSON", () => {
  it("agrees with JSON.stringify wherever no text is spliced in", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(toJson(value)).toBe(JSON.stringify(value));
      }),
    );
  });

  it("writes stored text as it is", () => {
    expect(toJson({ slug: "a", nodes: raw('[1.0,{"b":1,"a":2}]'), cover: raw(""), gone: undefined })).toBe(
      '{"slug":"a","nodes":[1.0,{"b":1,"a":2}],"cover":null}',
    );
  });
});
