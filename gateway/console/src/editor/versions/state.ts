import { sameGraph } from "../../document/graph";
import type { DocumentState } from "../../document/state";
import type { PublishedState } from "../../document/remote";
import { STATE } from "../../messages/editor/version-state";

/** True if the canvas, saved or unsaved, differs from the version that callers run. */
export const isAhead = ({ published, graph, saved }: Pick<DocumentState, "published" | "graph" | "saved">): boolean =>
  published.version !== null && (published.changed || !sameGraph(graph, saved));

/** The version that callers run, in a sentence. */
export const stateWords = ({ version, production }: Pick<PublishedState, "version" | "production">, ahead: boolean): string => {
  if (production !== version) return STATE.olderInProduction(production, version);
  if (version === null) return STATE.notPublished;
  return ahead ? STATE.draftDiffers(version) : STATE.draftIdentical(version);
};
