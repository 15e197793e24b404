import fc from "fast-check";
import { measureJson } from "../../src/http/body/json-bounds";

const measure = (text: string, depth: number, values: number): string => measureJson(Buffer.from(text), depth, values);

const valuesOf = (value: unknown): number =>
  typeof value === "object" && value !== null ? Object.values(value).reduce<number>((sum, item) => sum + valuesOf(item), 1) : 1;
const depthOf = (value: unknown): number =>
  typeof value === "object" && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;

it("counts the values and levels of any JSON exactly, without building it", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom(undefined, 1, "\t"), (value, space) => {
      const text = JSON.stringify(value, null, space);
      const parsed = JSON.parse(text) as unknown;
      const [depth, values] = [depthOf(parsed), valuesOf(parsed)];
      expect(measure(text, depth, values)).toBe("fits");
      expect(measure(text, depth, values - 1)).toBe("too many values");
      if (depth > 0) expect(measure(text, depth - 1, values)).toBe("too deep");
    }),
    { numRuns: 2_000 },
  );
});

it("counts the same after long texts, with any escapes", () => {
  const long = fc
    .array(fc.constantFrom('"', "\\", "x".repeat(255), "x".repeat(256), "x".repeat(600)), { maxLength: 12 })
    .map((parts) => parts.join(""));
  fc.assert(
    fc.property(fc.array(long, { maxLength: 4 }), (texts) => {
      expect(measure(JSON.stringify(texts), 1, texts.length + 1)).toBe("fits");
      expect(measure(JSON.stringify(texts), 1, texts.length)).toBe("too many values");
    }),
    { numRuns: 1_000 },
  );
});

it("ends for any bytes", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      expect(["fits", "too deep", "too many values"]).toContain(measureJson(bytes, 3, 10));
    }),
  );
});
