import { sameGraph } from "../../document/graph";
import type { DocumentState } from "../../document/document";

/** Whether the canvas differs from what callers run: as the service says of what is saved, and what isn't saved yet. */
export const isAhead = ({ published, graph, saved }: Pick<DocumentState, "published" | "graph" | "saved">): boolean =>
  published.version !== null && (published.changed || !sameGraph(graph, saved));

/** What callers run now, in a sentence. */
export const stateWords = (version: number | null, ahead: boolean): string => {
  if (version === null) return "Nothing is published: callers run the draft, and notice each change as soon as it is saved.";
  return ahead
    ? `Callers run version ${version}. The draft was changed since; runs from the canvas are of the draft.`
    : `Callers run version ${version}, and the draft is the same.`;
};
