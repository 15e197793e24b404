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
  /** Maximum characters of a value that a passed check quotes. */
  passedChars: 200,
  /** Maximum files of one value that are measured, or that a judge sees. */
  files: 8,
  /** Frames by which a judge sees a video. */
  frames: 4,
  /** Maximum characters of a rubric, and of the values that a judge reads. */
  rubricChars: 4_000,
  judgedChars: 20_000,
  /** Maximum calls of a judge for each order. */
  votes: 5,
  /** Maximum characters kept of a judge's reason. */
  reasonChars: 500,
} as const;

/** An exact number, or an inclusive range. */
export type NumberRange = number | { min?: number; max?: number };

export const FILE_NUMBERS = ["bytes", "width", "height", "durationMs"] as const;
export type FileNumber = (typeof FILE_NUMBERS)[number];

export const SIMILARITIES = ["ssim", "hash"] as const;
/** Similarity to a golden file: mean structural similarity (SSIM), or equal bits of a perceptual hash. Both are from 0 to 1. */
export interface SimilarTo {
  /** URL or id of a file of the workflow's owner. */
  file: string;
  by?: (typeof SIMILARITIES)[number];
  atLeast?: number;
}
export const DEFAULT_SIMILARITY = 0.9;

/** Text that is recognized in a picture. */
export interface FileText {
  contains?: string;
  matches?: string;
}

export type FileExpectation = {
  kind?: MediaFamily;
  contentType?: string;
  /** Integrated loudness in LUFS (EBU R 128). */
  loudness?: NumberRange;
  similarTo?: SimilarTo;
  text?: FileText;
} & Partial<Record<FileNumber, NumberRange>>;

/** A version by number, or by alias. */
export interface NamedVersion {
  version?: number;
  alias?: string;
}

/** A language model judges a value by a rubric from 1 to 5, or compares it with the value of another version. */
export interface Judge {
  model: string;
  rubric?: string;
  against?: NamedVersion;
  /** The lowest score that passes: 1 to 5, or with `against` a share of votes from 0 to 1. */
  atLeast: number;
  /** Calls of the model; with `against` in each order. */
  votes?: number;
}
export const JUDGE_SCORES = [1, 2, 3, 4, 5] as const;

/** `path` is JMESPath to a value in the result. Without it, the expectation is about the result's only member. */
export interface Expectation {
  path?: string;
  equals?: unknown;
  matches?: string;
  contains?: string;
  schema?: JsonSchema;
  jmespath?: string;
  file?: FileExpectation;
  judge?: Judge;
}

/** Each expectation has exactly one of these members. */
export const EXPECTATION_KINDS = ["equals", "matches", "contains", "schema", "jmespath", "file", "judge"] as const;
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
