/** Compares a result's files with expectations of their properties and measurements. */
import type { RunBudget } from "../graph/budget";
import { mediaFamily } from "../graph/values/media";
import { fileKey, problemKey, textKey, type TestedFile, type TestedRun } from "./tested-run";
import { contains, matches, normalized } from "./texts";
import { DEFAULT_SIMILARITY, FILE_NUMBERS, type FileExpectation, type NumberRange } from "./types";
import { addressIn, listed } from "./values";

const MISSING = "nothing";
const FOREIGN = "not one of your files";
const UNMEASURED = "not measured";

export interface FileCheck {
  passed: boolean;
  /** All measured members, of each file of a list. */
  measured: unknown;
  /** Members that don't match, of the first such file; set if the check failed. */
  difference?: unknown;
}

interface Member {
  name: string;
  value: unknown;
  passed: boolean;
}

const isWithin = (range: NumberRange, value: number | undefined): boolean => {
  if (value === undefined) return false;
  if (typeof range === "number") return value === range;
  return value >= (range.min ?? -Infinity) && value <= (range.max ?? Infinity);
};

const storedMembers = (expected: FileExpectation, file: TestedFile): Member[] => {
  const { kind, contentType } = expected;
  const family = mediaFamily(file.contentType);
  return [
    ...(kind === undefined ? [] : [{ name: "kind", value: family ?? file.contentType, passed: kind === family }]),
    ...(contentType === undefined ? [] : [{ name: "contentType", value: file.contentType, passed: contentType === file.contentType }]),
    ...FILE_NUMBERS.filter((name) => expected[name] !== undefined).map((name) => ({
      ...{ name, value: file[name] ?? null, passed: isWithin(expected[name]!, file[name]) },
    })),
  ];
};

/** @param place index of the file in the value */
const measuredMembers = (
  { loudness, similarTo, text }: FileExpectation,
  { measurements = {} }: TestedRun,
  [index, place]: readonly [number, number],
  budget: RunBudget,
): Member[] => {
  const ofFile = measurements[fileKey(index, place)] ?? {};
  const ofText = measurements[textKey(index, place)] ?? {};
  const similarity = similarTo && ofFile[similarTo.by ?? "ssim"];
  const words = ofText.text;
  const hasWords =
    words !== undefined &&
    (text?.contains === undefined || contains(normalized(text.contains), normalized(words), budget)) &&
    (text?.matches === undefined || matches(text.matches, words, budget));
  return [
    ...(loudness === undefined
      ? []
      : [{ name: "loudness", value: ofFile.loudness ?? ofFile.problem ?? UNMEASURED, passed: isWithin(loudness, ofFile.loudness) }]),
    ...(similarTo === undefined
      ? []
      : [
          {
            ...{ name: "similarTo", value: similarity ?? ofFile.problem ?? UNMEASURED },
            passed: similarity !== undefined && similarity >= (similarTo.atLeast ?? DEFAULT_SIMILARITY),
          },
        ]),
    ...(text === undefined ? [] : [{ name: "text", value: words ?? ofText.problem ?? UNMEASURED, passed: hasWords }]),
  ];
};

const ofMembers = (members: readonly Member[]): Record<string, unknown> =>
  Object.fromEntries(members.map(({ name, value }) => [name, value]));

/** In a list, every file must match. @param index of the expectation */
export const checkFiles = (expected: FileExpectation, index: number, value: unknown, run: TestedRun, budget: RunBudget): FileCheck => {
  const files = listed(value);
  const problem = run.measurements?.[problemKey(index)]?.problem;
  if (files.length === 0 || problem !== undefined) {
    const reason = problem ?? MISSING;
    return { passed: false, measured: reason, difference: reason };
  }
  const all = files.map((file, place): Member[] => {
    const url = addressIn(file);
    const stored = url === undefined ? undefined : run.fileAt(url);
    if (!stored) return [{ name: "file", value: url === undefined ? MISSING : FOREIGN, passed: false }];
    return [...storedMembers(expected, stored), ...measuredMembers(expected, run, [index, place], budget)];
  });
  const failed = all.map((members) => members.filter(({ passed }) => !passed)).find(({ length }) => length > 0);
  const measured = all.map(ofMembers);
  return {
    ...{ passed: failed === undefined, measured: Array.isArray(value) ? measured : measured[0] },
    ...(failed ? { difference: ofMembers(failed) } : {}),
  };
};
