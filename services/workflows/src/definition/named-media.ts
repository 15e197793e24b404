import type { Workflow } from "./workflow";

/** Names of one workflow that are noted: more files than a graph can use. */
const MAX_NAMES = 5_000;
/** Ids of uploads, and of what runs make: both are told from words by their form. */
const IDS = /"([0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}[A-Za-z0-9._-]{0,160})"/g;
const ADDRESSES = /\/media\\?\/([A-Za-z0-9][A-Za-z0-9._-]{0,260})/g;

const matches = (text: string, pattern: RegExp): Iterable<string> => [...text.matchAll(pattern)].map(([, name]) => name!);

/** The ids and keys of files that JSON texts may name. */
export const namesIn = (...texts: readonly string[]): string[] => {
  const names = new Set<string>();
  for (const text of texts) {
    for (const pattern of [IDS, ADDRESSES]) {
      for (const name of matches(text, pattern)) {
        if (names.size >= MAX_NAMES) return [...names];
        names.add(name);
      }
    }
  }
  return [...names];
};

/** What a workflow names: files stay as long as they are named. */
export const namedBy = ({
  nodesJson,
  coverJson,
  thumbnail,
  app,
}: Pick<Workflow, "nodesJson" | "coverJson" | "thumbnail" | "app">): string[] =>
  namesIn(nodesJson, coverJson, app?.cover ?? "", thumbnail?.startsWith("data:") ? "" : (thumbnail ?? ""));
