import type { Graph, GraphIssue } from "@nodeloom/kernel";

/** Graphs as a planner has them. */

export type ReadGraph = Graph & { issues: GraphIssue[] };

/** A graph as it is kept between runs. */
export interface CachedGraph {
  graph: ReadGraph;
  /** Of its texts. */
  chars: number;
  /** Every text in it that could be the id of a file; read for the first run of somebody else. */
  literalIds?: ReadonlySet<string>;
}
