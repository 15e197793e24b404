import { wellFormed } from "../well-formed";

/** A node as planning sees it. Members it does not know stay in the saved text and are never judged. */
export interface GraphNode {
  id: string;
  type: string;
  data: Readonly<Record<string, unknown>>;
  /** Of the inputs of a workflow that stands in another: the values of its fields. */
  given?: ReadonlyMap<string, unknown>;
}

/** Carries a value from an output port to an input port. Null handles mean "the only sensible one". */
export interface GraphEdge {
  id: string;
  source: string;
  target: string;
  sourceHandle: string | null;
  targetHandle: string | null;
  /** What flows instead of an input that wasn't given: a field of a workflow that stands in another has its own value then. */
  otherwise?: { value: unknown };
}

export interface Graph {
  nodes: GraphNode[];
  edges: GraphEdge[];
}

export const NODE_TYPES = [
  "request-input",
  "text-box",
  "list",
  "json",
  "switch",
  "approval",
  "llm-assistant",
  "generate-image",
  "generate-video",
  "generate-audio",
  "http-request",
  "media",
  "media-upload",
  "workflow",
  "note",
  "response-output",
] as const;
export type NodeType = (typeof NODE_TYPES)[number];

/** Names longer than this are cut where they are shown. */
const MAX_LABEL_CHARS = 80;

/** A name that users chose (of a port, an edge, a field, a kind), as messages show it. */
export const shownName = (name: string): string => (name.length > MAX_LABEL_CHARS ? `${name.slice(0, MAX_LABEL_CHARS)}…` : name);

/** The name that a node's author gave it. */
export const labelOf = ({ data }: Pick<GraphNode, "data">): string | undefined => {
  const given = [data.label, data.name, data.title].find((name) => typeof name === "string" && name.trim() !== "") as string | undefined;
  return (
    given &&
    wellFormed(
      given
        .trim()
        .replace(/[\s\p{Cc}]+/gu, " ")
        .slice(0, MAX_LABEL_CHARS),
    )
  );
};

/** A node as messages call it: its label where it has one, and its id. */
export const nodeName = (id: string, label: string | undefined): string =>
  label === undefined || label === id ? id : `"${label}" (${id})`;

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
