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
import { appIssues } from "../apps/settings";
import { parseText } from "./json-text";
import type { Derived, Settings } from "./workflow";

/** A cover is a pair of URLs. Lists include it, so it must stay small. */

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
 * Checks settings as far as possible without the rest of the workflow.
 * @throws DomainError INVALID_REQUEST with every problem
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

/** @throws DomainError INVALID_REQUEST if a workflow's texts are too large together to be returned in one response */
export const checkSize = ({ nodesJson, edgesJson, viewportJson, coverJson, testsJson = "" }: Texts): void => {
  const texts = [nodesJson, edgesJson, viewportJson, coverJson, testsJson].filter((text) => text !== "");
  const sumOf = (sizeOf: (text: string) => number): number => texts.reduce((sum, text) => sum + sizeOf(text), 0);
  const bytes = sumOf((text) => Buffer.byteLength(text));
  if (bytes > LIMITS.workflowBytes)
    throw invalidRequest([{ path: "", message: `the workflow is larger than ${LIMITS.workflowBytes} bytes` }]);
  // Count values only if the size permits too many: each one takes a byte and a separator.
  if (bytes / 2 > LIMITS.jsonValues && sumOf((text) => valuesIn(text) - 1) > LIMITS.jsonValues)
    throw invalidRequest([{ path: "", message: `the workflow has more than ${LIMITS.jsonValues} values` }]);
};

/** Equal for graphs that differ only in JSON formatting. */
export const graphDigest = (nodesJson: string, edgesJson: string): string =>
  createHash("sha256")
    .update(JSON.stringify([JSON.parse(nodesJson), JSON.parse(edgesJson)]))
    .digest("base64url");

/** Equal for tests that differ only in JSON formatting. @param testsJson empty for no tests */
export const testsDigest = (testsJson: string): string =>
  createHash("sha256")
    .update(JSON.stringify(JSON.parse(testsJson || "[]")))
    .digest("base64url");

/** Distinct secrets that the HTTP nodes of a graph send. */
const secretNamesIn = ({ nodes }: Graph): string[] => {
  const names = nodes.filter(({ type }) => callsHttp(type)).flatMap(({ data }) => secretsOfNode(data));
  return [...new Set(names.filter((name) => SECRET_NAME.test(name)))].slice(0, SECRET_BOUNDS.secrets);
};

/**
 * Data that lists, schemas and estimates need of a graph.
 * @throws DomainError INVALID_REQUEST if nodes or edges aren't arrays or have too many elements
 */
export const derive = (nodesJson: string, edgesJson: string): Derived => {
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
