import { wellFormed } from "../well-formed";
export { nodeName } from "../node-name";

/** A node as planning reads it. Unknown members stay in the saved text and aren't checked. */
export interface GraphNode {
  id: string;
  type: string;
  data: Readonly<Record<string, unknown>>;
  /** Field values, for the request input of an inlined workflow. */
  given?: ReadonlyMap<string, unknown>;
}

/** Passes a value from an output port to an input port. A null handle means the default port. */
export interface GraphEdge {
  id: string;
  source: string;
  target: string;
  sourceHandle: string | null;
  targetHandle: string | null;
  /** Replaces an input that wasn't set, for example with the default of an inlined workflow's field. */
  otherwise?: { value: unknown };
}

export interface Graph {
  nodes: GraphNode[];
  edges: GraphEdge[];
}

export { NODE_TYPES, type NodeType } from "./node-types";

const MAX_LABEL_CHARS = 80;

/** Shortens a name chosen by a user for use in messages. */
export const shownName = (name: string): string => (name.length > MAX_LABEL_CHARS ? `${name.slice(0, MAX_LABEL_CHARS)}…` : name);

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
