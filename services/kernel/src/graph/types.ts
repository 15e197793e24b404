import { wellFormed } from "../text/well-formed";
export { nodeName } from "../text/node-name";

/** A node as planning reads it. Unknown members stay in the saved text and aren't checked. */
export interface GraphNode {
  id: string;
  type: string;
  data: Readonly<Record<string, unknown>>;
  /** Field values, for the request input of an inlined workflow. */
  fieldValues?: ReadonlyMap<string, unknown>;
  /** Slug of the inlined workflow that contains the node; absent for a node of the outermost workflow. */
  innerWorkflow?: string;
  /** For a node that a loop repeats: the end of the turn before. The node runs only if the loop goes on after that turn. */
  gate?: string;
  /** For a node that a loop repeats: its node in the first turn. Findings name only that one. */
  original?: string;
  /** Set for the start of a loop and for the end of each turn; see inline/turns.ts. */
  turn?: LoopTurn;
}

/** The start of a loop (number 0), or the end of one of its turns. */
export interface LoopTurn {
  number: number;
  count: number;
  /** JMESPath over the turn's results; empty if every turn runs. */
  until: string;
  /** The input ports: the result members of the turn, or the connected inputs of the loop. */
  ports: ReadonlyMap<string, PortType>;
  /** Nodes that run in this turn. */
  nodes: readonly string[];
}

/** A mask is a one-channel PNG in which white is selected. `media` is a file of any family, `any` any JSON value. */
export const PORT_TYPES = ["text", "number", "boolean", "image", "mask", "video", "audio", "model3d", "media", "any"] as const;
export type PortType = (typeof PORT_TYPES)[number];

/** Passes a value from an output port to an input port. A null handle means the default port. */
export interface GraphEdge {
  id: string;
  source: string;
  target: string;
  sourceHandle: string | null;
  targetHandle: string | null;
  /** Replaces an input that wasn't set, for example with the default of an inlined workflow's field. */
  otherwise?: { value: unknown };
  /** Set for edges from the turns of a loop. Only the edge from the last turn that ran carries a value. */
  isOneOf?: true;
}

export interface Graph {
  nodes: GraphNode[];
  edges: GraphEdge[];
}

const SEPARATOR = "/";

/** The id of an inner node in the expanded graph. */
export const innerId = (outer: string, inner: string): string => `${outer}${SEPARATOR}${inner}`;

/** Id of a loop's turn, which is also the id of the node that ends the turn. */
export const turnId = (loop: string, turn: number): string => innerId(loop, String(turn));

/** Id of the loop that a turn belongs to. */
export const loopOf = (turn: string): string => turn.slice(0, turn.lastIndexOf(SEPARATOR));

export { NODE_TYPES, type NodeType } from "./node-types";

const MAX_LABEL_CHARS = 80;

/** The node's label, as its author wrote it. */
export const labelOf = ({ data }: Pick<GraphNode, "data">): string | undefined => {
  const givenName = [data.label, data.name, data.title].find((name) => typeof name === "string" && name.trim() !== "") as
    string | undefined;
  return (
    givenName &&
    wellFormed(
      givenName
        .trim()
        .replace(/[\s\p{Cc}]+/gu, " ")
        .slice(0, MAX_LABEL_CHARS),
    )
  );
};

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
