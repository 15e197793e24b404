/** Types of workflow tests: inputs, and expectations for a run with them. */
import type { MediaFamily } from "../graph/values/media";
import type { JsonSchema } from "../graph/prices/price";

export const TEST_BOUNDS = {
  tests: 50,
  expectations: 20,
  nameChars: 80,
  /** Maximum size of all tests of a workflow, as JSON. */
  bytes: 256 * 1024,
  /** Maximum value of `maxMs`: one day. */
  milliseconds: 86_400_000,
  /** Maximum work of judging one run, in the unit of `RunBudget.work`; about 50 ms. */
  work: 30_000,
  /** Maximum characters of a value that a failure quotes. */
  quotedChars: 2_000,
} as const;

/** An exact number, or an inclusive range. */
export type NumberRange = number | { min?: number; max?: number };

export const FILE_NUMBERS = ["bytes", "width", "height", "durationMs"] as const;
export type FileNumber = (typeof FILE_NUMBERS)[number];

export type FileExpectation = { kind?: MediaFamily; contentType?: string } & Partial<Record<FileNumber, NumberRange>>;

/** `path` is JMESPath to a value in the result. Without it, the expectation is about the result's only member. */
export interface Expectation {
  path?: string;
  equals?: unknown;
  matches?: string;
  contains?: string;
  schema?: JsonSchema;
  jmespath?: string;
  file?: FileExpectation;
}

/** Each expectation has exactly one of these members. */
export const EXPECTATION_KINDS = ["equals", "matches", "contains", "schema", "jmespath", "file"] as const;
export type ExpectationKind = (typeof EXPECTATION_KINDS)[number];

export interface WorkflowTest {
  name: string;
  inputs: Record<string, unknown>;
  expect: Expectation[];
  maxCredits?: number;
  maxMs?: number;
}

export const kindOfExpectation = (expectation: Expectation): ExpectationKind =>
  EXPECTATION_KINDS.find((kind) => expectation[kind] !== undefined)!;
