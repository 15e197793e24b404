import type { Workflow } from "./workflow";

/** Maximum names recorded per workflow, above the number of files that a graph can use. */
const MAX_NAMES = 5_000;
/** Ids of uploads and generated files, which are recognized by their form. */
const IDS = /"([0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}[A-Za-z0-9._-]{0,160})"/g;
const ADDRESSES = /\/media\\?\/([A-Za-z0-9][A-Za-z0-9._-]{0,260})/g;

const matches = (text: string, pattern: RegExp): Iterable<string> => [...text.matchAll(pattern)].map(([, name]) => name!);

/** Ids and keys of files that JSON texts may refer to. */
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

/** Files that a workflow refers to. They aren't deleted while the workflow refers to them. */
export const namedBy = ({
  nodesJson,
  coverJson,
  thumbnail,
  app,
  testsJson = "",
}: Pick<Workflow, "nodesJson" | "coverJson" | "thumbnail" | "app" | "testsJson">): string[] =>
  namesIn(nodesJson, coverJson, testsJson, app?.cover ?? "", thumbnail?.startsWith("data:") ? "" : (thumbnail ?? ""));
