/** Reads and writes workflows as files of a bundle. */
import { createHash } from "node:crypto";
import {
  brokenParts,
  didYouMean,
  LIMITS,
  linkedSlugs,
  readGraph,
  relinked,
  testProblems,
  type GraphIssue,
  invalidRequest,
  type DomainError,
} from "@nodeloom/kernel";
import { members } from "@nodeloom/kernel/json-text";

/** @param entry name of the file in the bundle; empty for the whole bundle */
export const invalidBundle = (entry: string, message: string): DomainError =>
  invalidRequest([{ path: entry === "" ? "bundle" : `bundle: ${entry.slice(0, LIMITS.nameChars)}`, message }]);

export interface BundleDocument {
  title: string;
  description: string;
  tags: string[];
  /** Folder name; empty for the root level. */
  folder: string;
  nodesJson: string;
  edgesJson: string;
  viewportJson: string;
  /** Absent if the file has no tests. An import then leaves the tests as they are. */
  testsJson?: string;
  /** Problems that make every run invalid. */
  problems: GraphIssue[];
  /** Names of the workflows that its nodes use. */
  inner: string[];
  /** Names of the bundle's files that its nodes use. */
  files: string[];
  /** Members of the document that imports don't use. */
  ignored: string[];
  /** Hash of the content and its files. Documents that differ only in format or file names have equal hashes. */
  source: string;
}

/** The other workflows and files of the bundle. */
export interface Beside {
  workflows: ReadonlySet<string>;
  /** SHA-256 of each file by name. */
  files: ReadonlyMap<string, string>;
}

/** References to bundle files in graphs. They replace an account's file ids and addresses. */
const REFERENCE = /bundle:(id|url):([A-Za-z0-9][A-Za-z0-9._-]{0,127})/g;

export const fileReference = (kind: "id" | "url", name: string): string => `bundle:${kind}:${name}`;

const MOST_PROBLEMS = 20;
const USED = ["name", "description", "tags", "folder", "nodes", "edges", "viewport", "tests"];
const NO_NODES = "[]";
const DEFAULT_VIEWPORT = '{"x":0,"y":0,"zoom":1}';

const decoder = new TextDecoder("utf-8", { fatal: true });

const isDeeper = (value: unknown, levels: number): boolean =>
  typeof value === "object" && value !== null && (levels === 0 || Object.values(value).some((one) => isDeeper(one, levels - 1)));

const parsed = (entry: string, bytes: Buffer): { text: string; value: Record<string, unknown> } => {
  let [text, value]: [string, unknown] = ["", undefined];
  try {
    text = decoder.decode(bytes);
    value = JSON.parse(text);
  } catch (error) {
    throw invalidBundle(entry, `isn't JSON in UTF-8: ${(error as Error).message.slice(0, LIMITS.nameChars)}`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw invalidBundle(entry, "must be a JSON object");
  if (isDeeper(value, LIMITS.jsonDepth)) throw invalidBundle(entry, `is nested more than ${LIMITS.jsonDepth} levels deep`);
  return { text, value: value as Record<string, unknown> };
};

const textOf = (entry: string, value: unknown, name: string): string => {
  if (value === undefined || value === null) return "";
  if (typeof value !== "string") throw invalidBundle(entry, `${name} must be a text`);
  return value;
};

const tagsOf = (entry: string, value: unknown): string[] => {
  if (value === undefined) return [];
  if (!Array.isArray(value) || !value.every((tag) => typeof tag === "string")) throw invalidBundle(entry, "tags must be a list of texts");
  return value as string[];
};

/** @throws DomainError INVALID_REQUEST with the name of the entry */
export const readDocument = (entry: string, bytes: Buffer, { workflows, files }: Beside): BundleDocument => {
  const { text, value } = parsed(entry, bytes);
  const slices = members(text);
  const [sentNodes, edgesJson] = [slices.get("nodes") ?? NO_NODES, slices.get("edges") ?? NO_NODES];
  let problems: GraphIssue[];
  try {
    problems = brokenParts(readGraph(sentNodes, edgesJson)).slice(0, MOST_PROBLEMS);
  } catch (error) {
    throw invalidBundle(entry, (error as Error).message);
  }
  const { nodesJson, unpinned } = relinked(sentNodes, new Map([...workflows].map((name) => [name, name])));
  const byHash = (json: string): unknown =>
    JSON.parse(
      json.replaceAll(REFERENCE, (reference, kind: string, name: string) => {
        const hash = files.get(name);
        return hash === undefined ? reference : `bundle:${kind}:${hash}`;
      }),
    );
  const testsJson = slices.get("tests");
  const [problem] = testsJson === undefined ? [] : testProblems(value.tests);
  if (problem) throw invalidBundle(entry, `${problem.path}: ${problem.message}`);
  const title = textOf(entry, value.name, "name");
  const [description, tags, folder] = [textOf(entry, value.description, "description"), tagsOf(entry, value.tags), value.folder];
  const viewport = slices.get("viewport");
  const unusedNames = Object.keys(value).filter((name) => !USED.includes(name));
  return {
    ...{ title, description, tags, nodesJson, edgesJson, folder: textOf(entry, folder, "folder") },
    viewportJson: viewport === undefined || viewport === "null" ? DEFAULT_VIEWPORT : viewport,
    problems,
    inner: linkedSlugs(nodesJson),
    ...(testsJson === undefined ? {} : { testsJson }),
    files: [...new Set([...`${nodesJson}${testsJson ?? ""}`.matchAll(REFERENCE)].map(([, , name]) => name!))].sort(),
    ignored: [
      ...unusedNames.map((name) => `${name}${didYouMean(name, USED)}`),
      ...unpinned.map((inner) => `version of the workflow ${inner}`),
    ],
    source: createHash("sha256")
      .update(
        JSON.stringify([
          title,
          description,
          tags,
          byHash(nodesJson),
          JSON.parse(edgesJson),
          ...(testsJson === undefined ? [] : [byHash(testsJson)]),
        ]),
      )
      .digest("base64url"),
  };
};

export interface AccountFile {
  id: string;
  url: string;
}

/** Replaces bundle references in nodes or tests with an account's files. @param files account files by their name in the bundle */
export const withAccountFiles = (json: string, files: Readonly<Record<string, AccountFile>>): string =>
  json.replaceAll(REFERENCE, (reference, kind: "id" | "url", name: string) => files[name]?.[kind] ?? reference);
