import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import Ajv2020 from "ajv/dist/2020";
import addFormats from "ajv-formats";
import fc from "fast-check";
import {
  createBudget,
  createInputCheck,
  FILE_TOKENS_KEYWORD,
  MASK_KEYWORD,
  schemaProblems,
  schemaViolations,
  strictSchemaProblems,
  type JsonSchema,
} from "@nodeloom/kernel";
import { schema, value } from "./random-schemas";

/** Compares the interpreter with ajv. */

const ajv = (options: object = {}): Ajv2020 => {
  const validator = new Ajv2020({ allErrors: true, strict: false, strictNumbers: true, logger: false, ...options });
  addFormats(validator);
  return validator.addFormat("media", { type: "string", validate: (text: string) => text.length > 0 });
};

const [REFERENCE, STRICT] = [ajv(), ajv({ strict: true, validateFormats: false })];
STRICT.addKeyword({ keyword: FILE_TOKENS_KEYWORD, schemaType: "number" });
STRICT.addKeyword({ keyword: MASK_KEYWORD, schemaType: "boolean" });

/** ajv's verdict; undefined if its generated code fails, as it does for properties below some references. */
const judgedBy = (validate: (sample: unknown) => boolean, judgedSample: unknown): boolean | undefined => {
  try {
    return validate(judgedSample);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
};

describe("random schemas", () => {
  it("accept and reject the same values as users' and as operators' schemas", () => {
    const shared = { type: ["string", "object"], properties: { a: { type: "integer" } } };
    fc.assert(
      fc.property(schema, fc.array(value, { minLength: 1, maxLength: 8 }), (random, values) => {
        const whole = { $defs: { shared }, ...random };
        expect(schemaProblems(whole)).toEqual([]);
        const [reference, check] = [REFERENCE.compile(whole), createInputCheck(whole)];
        for (const one of values) {
          const isTaken = judgedBy(reference, one);
          if (isTaken === undefined) continue;
          expect(schemaViolations(whole, one, createBudget()).length === 0).toBe(isTaken);
          expect(check(one).length === 0).toBe(isTaken);
        }
      }),
      { numRuns: 100 },
    );
  });

  it("are rejected as operators' schemas for the same mistakes", () => {
    const mistake = fc.constantFrom<JsonSchema>(
      ...[{}, {}, { minLenght: 1 }, { title: 5 }, { minContains: 1 }, { then: {} }, { if: {} }, { required: ["a"] }, { format: "media" }],
      ...[{ type: "object" }, { type: "array" }, { type: "number" }, { type: "string" }, { type: "integer" }, { type: ["object", "null"] }],
    );
    const typed = fc.tuple(schema, mistake, mistake).map(([one, other, more]) => ({ ...one, ...other, ...more }));
    fc.assert(
      fc.property(typed, (random) => {
        const whole: JsonSchema = { ...random, $defs: { shared: { type: "string" } } };
        const [problem] = strictSchemaProblems(whole);
        let complaint: unknown;
        try {
          STRICT.compile(whole);
        } catch (error) {
          complaint = (error as Error).message;
        }
        expect({ complaint, problem, isWrong: problem !== undefined }).toEqual({ complaint, problem, isWrong: complaint !== undefined });
      }),
      { numRuns: 300 },
    );
  });
});

const REGISTRY = join(__dirname, "../../../../models/registry");
const entries = readdirSync(REGISTRY).map(
  (name) => JSON.parse(readFileSync(join(REGISTRY, name), "utf8")) as { internalName: string; inputSchema: JsonSchema },
);

it.each(entries.map(({ internalName, inputSchema }) => [internalName, inputSchema] as const))(
  "%s's inputs are accepted and rejected equally, at the same paths",
  (_name, inputSchema) => {
    expect(strictSchemaProblems(inputSchema)).toEqual([]);
    expect(() => STRICT.compile(inputSchema)).not.toThrow();
    const [reference, check] = [REFERENCE.compile(inputSchema), createInputCheck(inputSchema)];
    const properties = inputSchema.properties as Record<string, { enum?: unknown[]; default?: unknown }>;
    const names = Object.keys(properties);
    const some = fc.oneof(value, fc.double(), fc.integer(), fc.string(), fc.constantFrom("a boat", "", 1e400, 0, 4.5, "16:9"));
    const objects = fc.record(
      Object.fromEntries(
        names.map((name) => [name, fc.oneof(some, fc.constantFrom(...(properties[name]!.enum ?? []), properties[name]!.default))]),
      ),
      { requiredKeys: [], noNullPrototype: true },
    );
    const unknown = fc.dictionary(fc.constantFrom("colour", "x.y", ...names), value, { maxKeys: 1, noNullPrototype: true });
    fc.assert(
      fc.property(
        fc.oneof(
          value,
          objects,
          fc.tuple(objects, unknown).map(([one, other]) => ({ ...one, ...other })),
        ),
        (inputs) => {
          const isTaken = reference(inputs);
          // Ajv also reports the problems of each schema of an anyOf.
          const own = (reference.errors ?? []).filter(({ schemaPath }) => !/\/anyOf\/\d/.test(schemaPath));
          const places = own.map(({ instancePath, params }) => {
            const { additionalProperty, missingProperty } = params as { additionalProperty?: string; missingProperty?: string };
            return [...instancePath.split("/").slice(1), ...[additionalProperty ?? missingProperty ?? []].flat()].join(".");
          });
          expect([...new Set(check(inputs).map(({ path }) => path))].sort()).toEqual(isTaken ? [] : [...new Set(places)].sort());
        },
      ),
      { numRuns: 200 },
    );
  },
);

it("knows the formats of texts that ajv-formats knows", () => {
  const texts = [
    ...["2024-02-29", "2023-02-29", "10:00:00Z", "10:00:00", "2024-05-01T10:00:00+02:00", "P1DT2H", "P", "PT1S"],
    ...["https://example.com/a?b#c", "/a b", "/a", "http://a b", "http://ä.example", "urn:x:y", "x", "mailto:a@b.example"],
    ...["a@example.com", "a@localhost", "a@@b.example", "example.com", "-a.example", "a".repeat(70)],
    ...["127.0.0.1", "256.0.0.1", "::1", "::ffff:1.2.3.4", "1::2::3", "fe80::1%eth0", "6f1f64a1-2f6b-4bd1-8a4e-0c8ef2b6b9b0"],
    ...["urn:uuid:6f1f64a1-2f6b-4bd1-8a4e-0c8ef2b6b9b0", "/a~0/b", "a/b", "~", "0/a", "1#", "^a(", "^a$", "aGk=", "aGk", ""],
  ];
  const formats = [
    ...["date", "time", "date-time", "duration", "uri", "uri-reference", "email", "hostname", "ipv4", "ipv6", "uuid"],
    ...["json-pointer", "relative-json-pointer", "regex", "byte", "media", "password", "binary", "unknown"],
  ];
  for (const format of formats) {
    const [reference, check] = [REFERENCE.compile({ format }), createInputCheck({ format })];
    const differing = texts.filter((text) => reference(text) !== (check(text).length === 0));
    expect({ format, differing }).toEqual({ format, differing: [] });
  }
});

it.each([
  ["int32", 2 ** 31, 2 ** 31 - 1],
  ["int64", 1.5, 2 ** 40],
])("knows the format of numbers %s", (format, refusedValue, acceptedValue) => {
  const [reference, check] = [REFERENCE.compile({ format }), createInputCheck({ format })];
  for (const number of [refusedValue, acceptedValue]) expect(check(number).length === 0).toBe(reference(number));
  expect([check(refusedValue).length, check(acceptedValue).length]).toEqual([1, 0]);
});
