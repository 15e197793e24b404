import { sameGraph } from "../../document/graph";
import type { DocumentState } from "../../document/document";
import type { Published } from "../../document/remote";

/** True if the canvas differs from what callers run, saved or not. */
export const isAhead = ({ published, graph, saved }: Pick<DocumentState, "published" | "graph" | "saved">): boolean =>
  published.version !== null && (published.changed || !sameGraph(graph, saved));

/** The version that callers run, in a sentence. */
export const stateWords = ({ version, production }: Pick<Published, "version" | "production">, ahead: boolean): string => {
  if (production !== version) return `Callers run version ${production}. The newest version is ${version}.`;
  if (version === null) return "Nothing is published: callers run the draft, and notice each change as soon as it is saved.";
  return ahead
    ? `Callers run version ${version}. The draft was changed since; runs from the canvas are of the draft.`
    : `Callers run version ${version}, and the draft is the same.`;
};
