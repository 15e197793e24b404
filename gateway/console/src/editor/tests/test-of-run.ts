import type { Execution, TestExpectation, WorkflowTest } from "@nodeloom/client";
import { TESTS } from "../../messages/editor/tests";
import { filesIn, valuesIn } from "../../media/files-in";
import { freeName } from "./expectations";

/** A test from a finished run: its inputs, and expectations that its outputs meet. */

const PRICE_MARGIN = 1.2;
const TIME_MARGIN = 2;
const LENGTH_MARGIN = 0.1;
/** A fast run can wait for its turn. */
const LEAST_MS = 10_000;
const MS = 1_000;
const HUNDREDTHS = 100;
/** Longer values are hard to compare by eye. */
const MAX_SUGGESTED_CHARS = 2_000;

type Values = Readonly<Record<string, unknown>>;
const isRecord = (value: unknown): value is Values => typeof value === "object" && value !== null && !Array.isArray(value);

/** JMESPath to a member of the result. */
const pathOf = (name: string): string => (/^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name));

const filesOf = (value: unknown): Values[] => [value].flat().filter((one): one is Values => isRecord(one) && typeof one.url === "string");

/** The value that all files have; undefined if they differ. */
const shared = (files: readonly Values[], name: string): number | undefined => {
  const value = files[0]?.[name];
  return typeof value === "number" && files.every((file) => file[name] === value) ? value : undefined;
};

const lengthOf = (files: readonly Values[]): { min: number; max: number } | undefined => {
  const lengths = files.flatMap(({ durationMs }) => (typeof durationMs === "number" && durationMs > 0 ? [durationMs] : []));
  if (lengths.length === 0 || lengths.length < files.length) return undefined;
  return {
    min: Math.floor(Math.min(...lengths) * (1 - LENGTH_MARGIN)),
    max: Math.ceil(Math.max(...lengths) * (1 + LENGTH_MARGIN)),
  };
};

/** Kind, size and duration of the files at a place; undefined if there are none, or of several kinds. */
const fileExpectation = (name: string, value: unknown): TestExpectation | undefined => {
  const files = filesOf(value);
  const [kind, ...others] = new Set(filesIn(value, name).map(({ family }) => family));
  if (files.length === 0 || kind === undefined || others.length > 0) return undefined;
  const [width, height, durationMs] = [shared(files, "width"), shared(files, "height"), lengthOf(files)];
  return {
    path: pathOf(name),
    file: { kind, ...(width && height ? { width, height } : {}), ...(kind !== "image" && durationMs ? { durationMs } : {}) },
  };
};

/** Calls that were reused cost nothing and took no time, so they say nothing about the limits. */
const isReused = ({ nodes }: Execution): boolean =>
  nodes.some(({ reusedFrom, calls = [] }) => [reusedFrom, ...calls.map((call) => call.reusedFrom)].some(Boolean));

const limitsOf = (execution: Execution): Pick<WorkflowTest, "maxCredits" | "maxMs"> => {
  if (isReused(execution)) return {};
  const { creditsCost, durationMs } = execution;
  return {
    ...(creditsCost > 0 ? { maxCredits: Math.ceil(creditsCost * PRICE_MARGIN * HUNDREDTHS) / HUNDREDTHS } : {}),
    ...(durationMs > 0 ? { maxMs: Math.ceil(Math.max(LEAST_MS, durationMs * TIME_MARGIN) / MS) * MS } : {}),
  };
};

/** Addresses and ids of files say nothing to people. */
const FILE_INPUT = /^(?:https?:|data:|\/|[\da-f-]{36}$)/i;

/** The first text of the inputs. */
const titleOf = ({ inputs }: Execution): string => {
  const [text = TESTS.newName] = Object.values(inputs ?? {}).flatMap((value) =>
    typeof value === "string" && value.trim() !== "" && !FILE_INPUT.test(value) ? [value.replaceAll(/\s+/g, " ").trim()] : [],
  );
  return text;
};

export interface TestOfRun {
  test: WorkflowTest;
  /** Exact values, which the person adds if they must not change. */
  suggestions: TestExpectation[];
}

/** @param tests the workflow's tests, whose names are taken */
export const testOfRun = (execution: Execution, tests: readonly WorkflowTest[]): TestOfRun => {
  const { result = {}, inputs = {}, modelIds } = execution;
  const files = Object.entries(result).flatMap(([name, value]) => fileExpectation(name, value) ?? []);
  const exact = valuesIn(result).flatMap(([name, value]): TestExpectation[] =>
    value === null || JSON.stringify(value).length > MAX_SUGGESTED_CHARS ? [] : [{ path: pathOf(name), equals: value }],
  );
  // Without models, equal inputs give equal values.
  const isFixed = modelIds.length === 0;
  return {
    test: {
      name: freeName(titleOf(execution), tests),
      inputs,
      expect: [...files, ...(isFixed ? exact : [])],
      ...limitsOf(execution),
    },
    suggestions: isFixed ? [] : exact,
  };
};
