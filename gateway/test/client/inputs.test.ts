import type { Client } from "../../client/src/client";
import { readInputs } from "../../client/src/cli/inputs";

const read = (parts: string[], types: Record<string, string> = {}): Promise<string> =>
  readInputs({} as Client, parts, new Map(Object.entries(types)));

it("sends numbers with all of their digits, however large", async () => {
  const parts = [
    "seed:=9007199254740993",
    'ids:=[12345678901234567890, {"x": 1.10}]',
    "count=9007199254740995",
    "hex=0x10",
    "text=9007199254740997",
  ];
  expect(await read(parts, { count: "integer", hex: "number" })).toBe(
    '{"seed":9007199254740993,"ids":[12345678901234567890, {"x": 1.10}],"count":9007199254740995,"hex":16,"text":"9007199254740997"}',
  );
});

it("sends names and texts unchanged, the last of repeated names, and an empty list of inputs", async () => {
  expect(await read(['say "x"=a "b"', "__proto__=p", "on=true", "on=false"], { on: "boolean" })).toBe(
    '{"say \\"x\\"":"a \\"b\\"","__proto__":"p","on":false}',
  );
  expect(await read([])).toBe("{}");
});

it("collects the repeated values of an input for a list of files, and sends an empty list for an empty value", async () => {
  expect(await read(["photos=a", "photos=b"], { photos: "files" })).toBe('{"photos":["a","b"]}');
  expect(await read(["photos="], { photos: "files" })).toBe('{"photos":[]}');
});

it("rejects values that aren't JSON, a number, true or false", async () => {
  for (const [part, type] of [
    ["x:={", ""],
    ["x=1e", "number"],
    ["x=yes", "boolean"],
    ["x:=1 2", ""],
  ])
    await expect(read([part!], { x: type! })).rejects.toThrow(/^x: /);
});
