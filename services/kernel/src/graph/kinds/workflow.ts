import { isSlug, VERSION } from "../../limits";
import { NOTHING_PLANNED } from "../plan/plan-types";
import { isRecord, type GraphNode } from "../types";
import { PORT_TYPES, type PortType } from "../wiring/ports";
import type { NodeKind } from "./kind";

/** Returns the version that a node names: a number, `draft`, or empty for the latest. @returns undefined if it is invalid */
export const namedVersion = (version: unknown): string | undefined => {
  if (version === undefined || version === null || version === "") return "";
  const versionText = typeof version === "number" ? String(version) : version;
  return typeof versionText === "string" && VERSION.test(versionText) ? versionText : undefined;
};

const isPort = (port: unknown): port is { name: string; type: PortType } =>
  isRecord(port) && typeof port.name === "string" && (PORT_TYPES as readonly unknown[]).includes(port.type);

/** Ports of a node's workflow as the editor last saw them. */
export const seenPorts = ({ data: { ports } }: GraphNode, side: "inputs" | "outputs"): Map<string, PortType> => {
  const portList = isRecord(ports) ? ports[side] : undefined;
  return new Map((Array.isArray(portList) ? portList : []).filter(isPort).map(({ name, type }) => [name, type]));
};

/** Settings of kinds that run a workflow in their place. */
export const REFERENCE_SETTINGS = {
  slug: { type: "string", description: "A workflow of yours, or a template." },
  version: { description: "Number of a published version, or `draft`. Default: the newest version, or the draft if none is published." },
  inputs: { type: "object", description: "Values of the fields that aren't connected." },
  ports: {
    type: "object",
    description: "The ports as the editor last saw them: inputs and outputs, each with name and type. Runs don't read it.",
  },
} as const;

export const referenceProblems = ({ data: { slug, version, inputs } }: GraphNode): string[] => [
  ...(typeof slug === "string" && isSlug(slug) ? [] : ["slug: must name a workflow"]),
  ...(namedVersion(version) !== undefined ? [] : [`version: must be a version's number or "draft"`]),
  ...(inputs === undefined || inputs === null || isRecord(inputs) ? [] : ["inputs: must be an object"]),
];

/** A workflow node is replaced by the nodes of its workflow before planning; see inline/. */
export const workflow: NodeKind = {
  type: "workflow",
  summary: "Runs another workflow inside this one. Its fields are the inputs, and the members of its result the outputs.",
  settings: REFERENCE_SETTINGS,
  calls: null,
  runs: true,
  isReplaced: true,
  inputs: (node) => new Map([...seenPorts(node, "inputs")].map(([name, type]) => [name, { type, list: false }])),
  anyInput: () => ({ type: "any", list: true }),
  outputs: (node) => seenPorts(node, "outputs"),
  check: referenceProblems,
  plan: () => NOTHING_PLANNED,
};
