/** A node as planning sees it. Members it does not know stay in the saved text and are never judged. */
export interface GraphNode {
  id: string;
  type: string;
  data: Readonly<Record<string, unknown>>;
}

/** Carries a value from an output port to an input port. Null handles mean "the only sensible one". */
export interface GraphEdge {
  id: string;
  source: string;
  target: string;
  sourceHandle: string | null;
  targetHandle: string | null;
}

export interface Graph {
  nodes: GraphNode[];
  edges: GraphEdge[];
}

/** One reason why a graph can't run. `nodeId` is null for problems of the graph as a whole. */
export interface GraphIssue {
  nodeId: string | null;
  message: string;
}

export const GENERATOR_TYPES = ["generate-image", "generate-video", "generate-audio"] as const;
export type GeneratorType = (typeof GENERATOR_TYPES)[number];

export const NODE_TYPES = [
  "request-input",
  "text-box",
  "list",
  "llm-assistant",
  ...GENERATOR_TYPES,
  "http-request",
  "media-upload",
  "note",
  "response-output",
] as const;
export type NodeType = (typeof NODE_TYPES)[number];

export const isNodeType = (type: string): type is NodeType => (NODE_TYPES as readonly string[]).includes(type);
export const isGeneratorType = (type: string): type is GeneratorType => (GENERATOR_TYPES as readonly string[]).includes(type);

/** Node kinds that call a registered model. */
export const callsModel = (type: string): boolean => isGeneratorType(type) || type === "llm-assistant";

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
