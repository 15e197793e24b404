/** Overrides settings of a graph for one run. */
import { createHash } from "node:crypto";
import {
  callsHttp,
  callsModel,
  covers,
  DomainError,
  invalidInputs,
  invalidRequest,
  isGeneratorType,
  isRecord,
  referenceOf,
  secretsOfNode,
  shownName,
  waitsForDecision,
  type GraphNode,
} from "@nodeloom/kernel";
import { approvalSettings } from "@nodeloom/kernel/graph";
import { elements, members, withMember } from "@nodeloom/kernel/json-text";
import type { TaskGraph } from "./planner/protocol";

const INPUTS = "inputs";
const MODEL = "model";
const WRITE = "workflow:write";
const HASH_CHARS = 16;

/** Overrides settings of a node. Inputs are overridden one by one. */
const overlaid = (nodeJson: string, settingsJson: string): string => {
  let json = nodeJson;
  for (const [name, value] of members(settingsJson)) {
    if (name !== INPUTS || !value.startsWith("{")) json = withMember(json, ["data", name], value);
    else for (const [input, inputJson] of members(value)) json = withMember(json, ["data", INPUTS, input], inputJson);
  }
  return json;
};

/** Returns a node with its kind and settings; undefined for a malformed node. */
const nodeOf = (nodeJson: string): GraphNode | undefined => {
  const { id, type, data } = JSON.parse(nodeJson) as Record<string, unknown>;
  return typeof type === "string" && isRecord(data) ? { id: String(id), type, data } : undefined;
};

const sendsSecrets = ({ type, data }: GraphNode): boolean => callsHttp(type) && secretsOfNode(data).length > 0;

/** Returns the reference of a workflow node as text. */
const referenceJson = (node: GraphNode | undefined): string => JSON.stringify((node && referenceOf(node)) ?? null);

/** Returns the deciders that an approval names as text; empty for other kinds. */
const decidersJson = (node: GraphNode | undefined): string => {
  if (!node || !waitsForDecision(node.type)) return "";
  const { approvers, notStarter } = approvalSettings(node.data);
  return JSON.stringify({ approvers, notStarter });
};

/**
 * Explains why a setting can't be overridden. Only the author decides where secrets are sent, which workflow runs, and who decides.
 */
const problemOf = (before: GraphNode | undefined, after: GraphNode | undefined): string | undefined => {
  if (after && sendsSecrets(after)) return "the node sends secrets, so only the workflow can set it";
  if (referenceJson(before) !== referenceJson(after)) return "only the workflow can choose which workflow this node runs";
  if (decidersJson(before) !== decidersJson(after)) return "only the workflow can name the approvers of this node";
  return undefined;
};

const idOf = (nodeJson: string): unknown => JSON.parse(members(nodeJson).get("id") ?? "null");

const denied = (path: string, required: string): DomainError =>
  new DomainError("forbidden", "CAPABILITY_DENIED", `${path} can only be set with the capability ${required}`, { required });

/** True if a caller with permission to run the graph, but not to change it, can override a setting. */
const isRunSetting = ({ type }: GraphNode, name: string, value: string): boolean => {
  if (name === MODEL) return callsModel(type) && value.startsWith('"');
  return name === INPUTS && isGeneratorType(type) && value.startsWith("{");
};

/** @throws DomainError CAPABILITY_DENIED with the name of the setting */
const checkRunSettings = (id: string, node: GraphNode | undefined, settingsJson: string): void => {
  for (const [name, value] of members(settingsJson))
    if (!node || !isRunSetting(node, name, value)) throw denied(`settings.${id}.${shownName(name)}`, WRITE);
};

export interface SettingsRights {
  isForeign: boolean;
  capabilities: readonly string[];
}

/**
 * Overrides settings of some nodes. Without `workflow:write`, a caller can override only models and inputs of generators, because other
 * settings decide where literal credentials are sent.
 * @param settingsJson an object by node id; each value is an object by setting
 * @throws DomainError INVALID_INPUTS for an unknown node, or a node that sends secrets or would run another workflow; CAPABILITY_DENIED;
 *   INVALID_REQUEST for a workflow of another user
 */
export const withSettings = (graph: TaskGraph, settingsJson: string, { isForeign, capabilities }: SettingsRights): TaskGraph => {
  if (isForeign) throw invalidRequest([{ path: "settings", message: "can only be sent for your own workflows: clone it first" }]);
  const settings = members(settingsJson);
  const unusedIds = new Set(settings.keys());
  const writes = covers(capabilities, WRITE);
  const nodes = elements(graph.nodesJson).map((nodeJson) => {
    const id = idOf(nodeJson);
    const own = typeof id === "string" ? settings.get(id) : undefined;
    if (own === undefined) return nodeJson;
    unusedIds.delete(id as string);
    const node = nodeOf(nodeJson);
    if (!writes) checkRunSettings(id as string, node, own);
    const changed = overlaid(nodeJson, own);
    const problem = problemOf(node, nodeOf(changed));
    if (problem !== undefined) throw invalidInputs([{ path: `settings.${id as string}`, message: problem }]);
    return changed;
  });
  if (unusedIds.size > 0) {
    throw invalidInputs([...unusedIds].map((id) => ({ path: `settings.${id}`, message: `the workflow has no node ${shownName(id)}` })));
  }
  const hash = createHash("sha256").update(settingsJson).digest("hex").slice(0, HASH_CHARS);
  return { ...graph, key: `${graph.key}#${hash}`, nodesJson: `[${nodes.join(",")}]` };
};

/**
 * Checks that a runner without `workflow:write` has the capability for each overriding model.
 * @param modelOf the model that a node gets by the name in its settings; undefined if it isn't checked
 * @throws DomainError CAPABILITY_DENIED
 */
export const checkSetModels = (
  settingsJson: string,
  capabilities: readonly string[],
  modelOf: (nodeId: string, name: string) => string | undefined,
): void => {
  if (covers(capabilities, WRITE)) return;
  for (const [id, own] of members(settingsJson)) {
    const modelJson = members(own).get(MODEL);
    const model = modelJson === undefined ? undefined : modelOf(id, JSON.parse(modelJson) as string);
    if (model === undefined) continue;
    const required = `model:${model}:run`;
    if (!covers(capabilities, required)) throw denied(`settings.${id}.${MODEL}`, required);
  }
};
