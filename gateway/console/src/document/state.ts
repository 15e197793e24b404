import { edgesText, nodesText, readDocGraph, sameGraph, type DocGraph } from "./graph";
import { emptyHistory, rebase, type History } from "./history";
import { mergeGraphs, merger, type Conflict } from "./merge";
import type { Draft, LoadedDocument, Meta, PublishedState } from "./remote";
import type { WriteState } from "./write-queue";

export interface Selection {
  readonly nodes: ReadonlySet<string>;
  readonly edges: ReadonlySet<string>;
}
export const NOTHING: Selection = { nodes: new Set(), edges: new Set() };

export interface DocumentState {
  graph: DocGraph;
  /** The last known state at the service. */
  saved: DocGraph;
  etag: string;
  published: PublishedState;
  meta: Meta;
  pendingMeta: Partial<Meta>;
  history: History<DocGraph>;
  selection: Selection;
  write: WriteState;
  conflicts: readonly Conflict[];
  /** Number of merged changes from elsewhere, for a notice. */
  merges: number;
  /** True if a draft of an earlier visit was recovered. */
  recovered: boolean;
}

const hasMembers = (record: object): boolean => Object.keys(record).length > 0;
export const graphTexts = (graph: DocGraph): { nodes: string; edges: string } => ({ nodes: nodesText(graph), edges: edgesText(graph) });

export const isDirty = ({ graph, saved, pendingMeta }: DocumentState): boolean => hasMembers(pendingMeta) || !sameGraph(graph, saved);

/** State after merging a newer revision. */
export const withRemote = (state: DocumentState, theirs: LoadedDocument): Partial<DocumentState> => {
  const merge = merger(state.saved, theirs.graph);
  const { graph, conflicts } = merge(state.graph);
  const changed = !sameGraph(theirs.graph, state.saved);
  return {
    graph: sameGraph(graph, theirs.graph) && !isDirty(state) ? theirs.graph : graph,
    saved: theirs.graph,
    etag: theirs.etag,
    published: theirs.published,
    meta: { ...theirs.meta, ...state.pendingMeta },
    conflicts,
    history: changed ? rebase(state.history, (snapshot) => merge(snapshot).graph) : state.history,
    merges: changed && !sameGraph(graph, state.graph) ? state.merges + 1 : state.merges,
  };
};

/** Initial state: the saved graph with recovered drafts. */
export const opened = (loaded: LoadedDocument, drafts: readonly Draft[]): DocumentState => {
  let state: DocumentState = {
    graph: loaded.graph,
    saved: loaded.graph,
    etag: loaded.etag,
    published: loaded.published,
    meta: loaded.meta,
    pendingMeta: {},
    history: emptyHistory(),
    selection: NOTHING,
    write: { kind: "saved" },
    conflicts: [],
    merges: 0,
    recovered: false,
  };
  for (const { base, mine, meta } of [...drafts].sort((a, b) => a.savedAt - b.savedAt)) {
    const merged = mergeGraphs(readDocGraph(base.nodes, base.edges), readDocGraph(mine.nodes, mine.edges), state.graph);
    const pendingMeta = { ...state.pendingMeta, ...meta };
    const recovered = !sameGraph(merged.graph, loaded.graph) || hasMembers(pendingMeta);
    state = {
      ...state,
      graph: merged.graph,
      conflicts: [...state.conflicts, ...merged.conflicts],
      pendingMeta,
      meta: { ...state.meta, ...meta },
      recovered,
    };
  }
  return state;
};

export const pruned = (selection: Selection, graph: DocGraph): Selection => {
  const [nodes, edges] = [new Set(graph.nodes.map(({ id }) => id)), new Set(graph.edges.map(({ id }) => id))];
  const keptSelection = {
    nodes: [...selection.nodes].filter((id) => nodes.has(id)),
    edges: [...selection.edges].filter((id) => edges.has(id)),
  };
  if (keptSelection.nodes.length === selection.nodes.size && keptSelection.edges.length === selection.edges.size) return selection;
  return { nodes: new Set(keptSelection.nodes), edges: new Set(keptSelection.edges) };
};
