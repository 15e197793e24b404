import { createHash } from "node:crypto";
import {
  callsHttp,
  generatorUses,
  inputFields,
  invalidRequest,
  isLonger,
  LIMITS,
  readGraph,
  resultMembers,
  savedValues,
  SECRET_BOUNDS,
  SECRET_NAME,
  secretsOfNode,
  testProblems,
  type Graph,
  type Issue,
} from "@nodeloom/kernel";
import { valuesIn } from "@nodeloom/kernel/json-text";
import { appIssues } from "./app-settings";
import { parseText } from "./json-text";
import type { DerivedMembers, Settings } from "./workflow";

/** A cover is a pair of URLs. It must stay small, because lists include it. */

const tooLong = (path: string, text: string, maximum: number): Issue[] =>
  isLonger(text, maximum) ? [{ path, message: `must have at most ${maximum} characters` }] : [];

const nameIssues = (name: string): Issue[] =>
  name.trim() === "" ? [{ path: "name", message: "must not be empty" }] : tooLong("name", name, LIMITS.nameChars);

const tagIssues = (tags: readonly string[]): Issue[] => [
  ...(tags.length > LIMITS.tags ? [{ path: "tags", message: `must have at most ${LIMITS.tags} elements` }] : []),
  ...tags.flatMap((tag, index) => tooLong(`tags[${index}]`, tag, LIMITS.tagChars)),
];

const thumbnailIssues = (thumbnail: string): Issue[] =>
  Buffer.byteLength(thumbnail) > LIMITS.textValueBytes
    ? [{ path: "thumbnail", message: `is longer than ${LIMITS.textValueBytes} bytes` }]
    : [];

const isObject = (value: unknown): boolean => typeof value === "object" && value !== null && !Array.isArray(value);

const objectIssues = (text: string, path: string, isNullAllowed = false): Issue[] => {
  const { value, issues } = parseText(text, path);
  if (issues.length > 0 || isObject(value) || (isNullAllowed && value === null)) return issues;
  return [{ path, message: "must be an object" }];
};

const coverIssues = (text: string): Issue[] => {
  if (text === "") return [];
  if (Buffer.byteLength(text) > LIMITS.coverBytes) return [{ path: "cover", message: `is longer than ${LIMITS.coverBytes} bytes` }];
  return objectIssues(text, "cover", true);
};

const testsIssues = (text: string): Issue[] => {
  if (text === "") return [];
  const { value, issues } = parseText(text, "tests");
  return issues.length > 0 ? issues : testProblems(value);
};

/**
 * Checks settings that don't depend on the rest of the workflow.
 * @throws DomainError INVALID_REQUEST with all problems
 */
export const checkSettings = (settings: Partial<Settings>): void => {
  const { name, description, tags, thumbnail, coverJson, nodesJson, edgesJson, viewportJson, app, testsJson } = settings;
  const issues = [
    ...(name === undefined ? [] : nameIssues(name)),
    ...(description === undefined ? [] : tooLong("description", description, LIMITS.descriptionChars)),
    ...(tags === undefined ? [] : tagIssues(tags)),
    ...(thumbnail ? thumbnailIssues(thumbnail) : []),
    ...(coverJson === undefined ? [] : coverIssues(coverJson)),
    ...(viewportJson === undefined ? [] : objectIssues(viewportJson, "viewport")),
    ...(nodesJson === undefined ? [] : parseText(nodesJson, "nodes").issues),
    ...(edgesJson === undefined ? [] : parseText(edgesJson, "edges").issues),
    ...(app ? appIssues(app) : []),
    ...(testsJson === undefined ? [] : testsIssues(testsJson)),
  ];
  if (issues.length > 0) throw invalidRequest(issues);
};

type Texts = Pick<Settings, "nodesJson" | "edgesJson" | "viewportJson" | "coverJson" | "testsJson">;

/** @throws DomainError INVALID_REQUEST if a workflow's texts together are too large for one response */
export const checkSize = ({ nodesJson, edgesJson, viewportJson, coverJson, testsJson = "" }: Texts): void => {
  const texts = [nodesJson, edgesJson, viewportJson, coverJson, testsJson].filter((text) => text !== "");
  const sumOf = (sizeOf: (text: string) => number): number => texts.reduce((sum, text) => sum + sizeOf(text), 0);
  const bytes = sumOf((text) => Buffer.byteLength(text));
  if (bytes > LIMITS.workflowBytes)
    throw invalidRequest([{ path: "", message: `the workflow is larger than ${LIMITS.workflowBytes} bytes` }]);
  // Values are counted only if the size allows too many: each value takes at least a byte and a separator.
  if (bytes / 2 > LIMITS.jsonValues && sumOf((text) => valuesIn(text) - 1) > LIMITS.jsonValues)
    throw invalidRequest([{ path: "", message: `the workflow has more than ${LIMITS.jsonValues} values` }]);
};

/** Digest of a graph. JSON formatting doesn't affect it. */
export const graphDigest = (nodesJson: string, edgesJson: string): string =>
  createHash("sha256")
    .update(JSON.stringify([JSON.parse(nodesJson), JSON.parse(edgesJson)]))
    .digest("base64url");

/** Digest of tests. JSON formatting doesn't affect it. @param testsJson empty for no tests */
export const testsDigest = (testsJson: string): string =>
  createHash("sha256")
    .update(JSON.stringify(JSON.parse(testsJson || "[]")))
    .digest("base64url");

/** Names of the secrets that a graph's HTTP nodes send, without duplicates. */
const secretNamesIn = ({ nodes }: Graph): string[] => {
  const names = nodes.filter(({ type }) => callsHttp(type)).flatMap(({ data }) => secretsOfNode(data));
  return [...new Set(names.filter((name) => SECRET_NAME.test(name)))].slice(0, SECRET_BOUNDS.secrets);
};

/**
 * Data about a graph for lists, schemas and estimates.
 * @throws DomainError INVALID_REQUEST if nodes or edges aren't arrays or have too many elements
 */
export const derive = (nodesJson: string, edgesJson: string): DerivedMembers => {
  const graph = readGraph(nodesJson, edgesJson);
  return {
    graphDigest: graphDigest(nodesJson, edgesJson),
    fieldsJson: JSON.stringify(inputFields(graph)),
    valuesJson: JSON.stringify(savedValues(graph)),
    secretNames: secretNamesIn(graph),
    resultsJson: JSON.stringify(resultMembers(graph)),
    generators: generatorUses(graph).map(({ nodeId, model, inputs, items }) => ({
      nodeId,
      model,
      inputsJson: JSON.stringify(inputs),
      items,
    })),
  };
};
