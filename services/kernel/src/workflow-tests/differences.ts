/** Compares the results of two runs with the same inputs. */
import { isRecord } from "../graph/types";
import { quoted } from "./judge";
import { addressIn } from "./values";

export interface ResultDifference {
  /** Path within the result, as JMESPath. */
  path: string;
  /** The value in the newer result; null if it has none at the path. */
  now: unknown;
  before: unknown;
}

const MOST_DIFFERENCES = 20;
const PLAIN_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

const memberPath = (path: string, name: string): string => {
  const member = PLAIN_NAME.test(name) ? name : JSON.stringify(name);
  return path === "" ? member : `${path}.${member}`;
};

/** Files are compared by URL, because a reused file keeps its URL. */
const comparable = (value: unknown): unknown => addressIn(value) ?? value;

/** @returns at most 20 differences, in the order of the newer result */
export const resultDifferences = (now: unknown, before: unknown): ResultDifference[] => {
  const differences: ResultDifference[] = [];
  const compare = (one: unknown, other: unknown, path: string): void => {
    if (differences.length >= MOST_DIFFERENCES) return;
    const [a, b] = [comparable(one), comparable(other)];
    if (Array.isArray(a) && Array.isArray(b)) {
      for (let index = 0; index < Math.max(a.length, b.length); index += 1) compare(a[index], b[index], `${path}[${index}]`);
    } else if (isRecord(a) && isRecord(b)) {
      for (const name of new Set([...Object.keys(a), ...Object.keys(b)])) compare(a[name], b[name], memberPath(path, name));
    } else if (a !== b) differences.push({ path: path === "" ? "@" : path, now: quoted(a), before: quoted(b) });
  };
  compare(now, before, "");
  return differences;
};
