/** Finds credentials in literals of HTTP nodes by the rules of gitleaks, so that authors can move them to secrets. */
import type { RE2JS } from "re2js";
import { findingInWords, type Finding, type NodeIssue } from "../issues";
import type { Graph, GraphNode } from "../graph/types";
import { callsHttp } from "../graph/kinds";
import { GITLEAKS_ALLOWED, GITLEAKS_RULES, type GitleaksRule } from "./gitleaks-rules";
import { literalsOf, MOST_CHARS } from "./literals";
import { OWN_RULES } from "./own-rules";

/**
 * Budget for checking one graph, in characters; it takes about 100 ms. Each pattern counts a text's length once. The search for all
 * keywords counts it `WORDS_WORK` times.
 */
const MOST_WORK = 500_000;
const WORDS_WORK = 4;

const patterns = new Map<string, RE2JS>();
const compiled = (pattern: string): RE2JS => {
  // Loaded on first use, because most processes never check texts.
  const regex = patterns.get(pattern) ?? (require("re2js") as typeof import("re2js")).RE2JS.compile(pattern);
  patterns.set(pattern, regex);
  return regex;
};

/** Shannon entropy in bits per character. */
const entropyOf = (text: string): number => {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  return [...counts.values()].reduce((bits, count) => bits - (count / text.length) * Math.log2(count / text.length), 0);
};

const isAllowed = (credential: string, allowed: readonly string[]): boolean =>
  [...GITLEAKS_ALLOWED, ...allowed].some((pattern) => compiled(pattern).matcher(credential).find());

const matches = ([, entropy, , pattern, group, allowed = []]: GitleaksRule, text: string): boolean => {
  const matcher = compiled(pattern).matcher(text);
  while (matcher.find()) {
    const groups = Array.from({ length: matcher.groupCount() }, (_, index) => matcher.group(index + 1));
    const credential = (group > 0 ? matcher.group(group) : groups.find(Boolean)) ?? matcher.group() ?? "";
    if ((entropy === 0 || entropyOf(credential) > entropy) && !isAllowed(credential, allowed)) return true;
  }
  return false;
};

const RULES: readonly GitleaksRule[] = [...GITLEAKS_RULES, ...OWN_RULES];

/** @returns the id of the first matching rule, or undefined */
const ruleOf = (text: string, budget: { work: number }): string | undefined => {
  const looked = text.slice(0, MOST_CHARS);
  if (budget.work <= 0) return undefined;
  budget.work -= looked.length * WORDS_WORK;
  const words = looked.toLowerCase();
  return RULES.find((rule) => {
    if (budget.work <= 0 || !rule[2].split(",").some((keyword) => words.includes(keyword))) return false;
    budget.work -= looked.length;
    return matches(rule, looked);
  })?.[0];
};

const ADVICE = "looks like a credential, which every reader of the workflow can see: store it as a secret and write {{secrets.NAME}}";

const findingsByData = new WeakMap<GraphNode["data"], Finding[]>();

const problemsOf = ({ data }: GraphNode, budget: { work: number }): Finding[] => {
  const findings =
    findingsByData.get(data) ??
    literalsOf(data).flatMap(([path, text]) =>
      ruleOf(text, budget) === undefined ? [] : [findingInWords("CREDENTIAL_FOUND", `${path} ${ADVICE}`, path)],
    );
  findingsByData.set(data, findings);
  return findings;
};

/** Issues for literals that look like credentials. Messages name the setting, never the value. */
export const credentialIssues = ({ nodes }: Pick<Graph, "nodes">): NodeIssue[] => {
  const budget = { work: MOST_WORK };
  return nodes
    .filter(({ type }) => callsHttp(type))
    .flatMap((node) => problemsOf(node, budget).map((one) => ({ nodeId: node.id, ...one })));
};
