import { GRAPH_BOUNDS } from "../bounds";
import { kindOf } from "../kinds";
import type { NodeKind } from "../kinds/kind";
import type { JsonSchema } from "../prices/price";
import { finding, type Finding, type NodeIssue } from "../../issues";
import { isRecord, type GraphNode } from "../types";
import { nearestName } from "../../text/nearest-name";

/** Members that editors store in any node. */
const COMMON = ["label", "name", "title", "description", "color", "bypass"];
/** If a node has more unknown names, none are compared. */
const MOST_NAMES = 50;

/**
 * Unknown settings of a node whose names resemble known ones. Editors may store any other unknown setting.
 * @param compared receives the number of comparisons
 */
export const misspeltSettings = (
  kind: NodeKind,
  node: GraphNode,
  schema: JsonSchema | undefined,
  compared: (count: number) => void,
): Finding[] => {
  const settings = Object.keys(kind.settings);
  if (settings.length === 0 || !kind.runs) return [];
  const inputs = isRecord(schema?.properties) ? Object.keys(schema.properties) : [];
  const names = [...new Set([...settings, ...inputs])];
  const knownNames = new Set([...names, ...COMMON, ...kind.inputs(node, schema).keys()]);
  const unknown = Object.keys(node.data)
    .filter((name) => !knownNames.has(name))
    .slice(0, MOST_NAMES);
  compared(unknown.length * names.length);
  return unknown.flatMap((name) => {
    const suggestion = nearestName(name, names);
    return suggestion === undefined ? [] : [finding("UNKNOWN_SETTING", { name, meant: suggestion })];
  });
};

/** Maximum comparisons per graph. */
const MOST_COMPARED = 20_000;

/** Misspelt settings of a graph's nodes. Stops at the bound on comparisons. */
export const misspeltIn = (nodes: readonly GraphNode[], schemaOf: (node: GraphNode) => JsonSchema | undefined): NodeIssue[] => {
  let remaining = MOST_COMPARED;
  const findings = nodes.flatMap((node) => {
    const kind = kindOf(node.type);
    if (!kind || remaining <= 0) return [];
    return misspeltSettings(kind, node, schemaOf(node), (count) => (remaining -= count)).map((one) => ({ nodeId: node.id, ...one }));
  });
  return findings.slice(0, GRAPH_BOUNDS.warnings);
};
