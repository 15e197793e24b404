import { GRAPH_BOUNDS } from "../bounds";
import { ONE_LINE, ONE_LINE_FORM } from "../../limits";
import { didYouMean } from "../../text/nearest-name";
import { FIELD_TYPES, fieldProblem, fieldsOf, maxFiles, uploadFamily, uploadType, type InputField } from "../values/fields";
import { isMediaId } from "../values/media";
import { resolveFiles, type Planner } from "../plan/planner";
import type { PortType } from "../wiring/ports";
import { findingInWords, type GraphIssue } from "../../issues";
import { isRecord, type Graph, type GraphNode } from "../types";
import { shownName } from "../../text/shown-name";
import { noPorts, type NodeKind } from "./kind";

// A map, because users choose the names that are looked up in it.
const FIELD_PORTS: ReadonlyMap<string, PortType> = new Map([
  ["text", "text"],
  ["textarea", "text"],
  ["select", "text"],
  ["number", "number"],
  ["boolean", "boolean"],
]);

const KNOWN_TYPES: ReadonlySet<string> = new Set(FIELD_TYPES);

/** Problems of a field's declaration. */
const fieldIssues = (field: InputField): string[] => {
  const { name, type, default: fallback } = field;
  const fieldName = `field ${shownName(name)}`;
  if (!ONE_LINE.test(name)) return [`a field's name ${ONE_LINE_FORM}: ${JSON.stringify(shownName(name))}`];
  if (!KNOWN_TYPES.has(type)) return [`${fieldName}: there is no type ${shownName(type)}${didYouMean(type, FIELD_TYPES)}`];
  if (field.multiple && uploadType(field) === undefined) return [`${fieldName}: multiple is only for files`];
  const most = maxFiles(field);
  if (field.multiple && !(Number.isInteger(most) && most >= 1 && most <= GRAPH_BOUNDS.listItems))
    return [`${fieldName}: maxItems must be a whole number from 1 to ${GRAPH_BOUNDS.listItems}`];
  const problem = fallback === undefined ? undefined : fieldProblem(field, fallback);
  return problem === undefined ? [] : [`${fieldName}: its default does not fit: ${problem}`];
};

/** Issues for duplicate field names, which would make inputs ambiguous. */
const doubleFields = (nodes: readonly GraphNode[]): GraphIssue[] => {
  const nodeByName = new Map<string, string>();
  const issues: GraphIssue[] = [];
  for (const node of nodes.filter(({ fieldValues }) => fieldValues === undefined)) {
    for (const { name } of fieldsOf(node.data)) {
      if (issues.length >= GRAPH_BOUNDS.issues) return issues;
      const earlier = nodeByName.get(name);
      const where = earlier === node.id ? "" : `, as ${earlier} has`;
      if (earlier !== undefined)
        issues.push({ nodeId: node.id, ...findingInWords("SETTING_INVALID", `has a second field ${shownName(name)}${where}`, "fields") });
      nodeByName.set(name, earlier ?? node.id);
    }
  }
  return issues;
};

/** Field defaults by name, cached per node. If a name is repeated, its first field applies. */
const defaults = new WeakMap<GraphNode, ReadonlyMap<string, unknown>>();
const defaultsOf = (node: GraphNode): ReadonlyMap<string, unknown> => {
  const nodeDefaults =
    defaults.get(node) ??
    new Map(
      fieldsOf(node.data)
        .reverse()
        .map((field) => [field.name, field.default]),
    );
  defaults.set(node, nodeDefaults);
  return nodeDefaults;
};

const fileFieldsOf = ({ data }: GraphNode): InputField[] => fieldsOf(data).filter((field) => uploadFamily(field) !== undefined);

/** Values for the inputs of an inlined workflow. File ids are resolved. */
const givenValues = (planner: Planner, node: GraphNode): ReadonlyMap<string, unknown> => {
  const values = new Map(node.fieldValues);
  for (const field of fileFieldsOf(node)) {
    if (!values.has(field.name)) continue;
    values.set(field.name, resolveFiles(planner, node.id, field.name, uploadType(field)!, values.get(field.name)));
  }
  return values;
};

export const requestInput: NodeKind = {
  type: "request-input",
  summary: "Declares the inputs of the workflow. Each field is an output port.",
  settings: {
    fields: {
      type: "array",
      description: "The fields, each with name, type, label, default, options, required, min, max, multiple and maxItems.",
    },
    values: { type: "object", description: "The values of the fields in the editor." },
  },
  calls: null,
  runs: true,
  inputs: noPorts,
  outputs: (node) => new Map(fieldsOf(node.data).map((field) => [field.name, FIELD_PORTS.get(field.type) ?? uploadType(field) ?? "any"])),
  check: ({ data }) => {
    const { fields } = data;
    if (fields !== undefined && fields !== null && !Array.isArray(fields)) return ["fields: must be a list"];
    return fieldsOf(data).flatMap(fieldIssues);
  },
  checkAll: doubleFields,
  plan: (planner, node) => {
    const { request, budget } = planner;
    const values = node.fieldValues ? givenValues(planner, node) : request.inputs;
    return { isEvaluated: true, outputs: new Map([...values].map(([name, value]) => [name, { value: budget.value(value) }])) };
  },
  mediaIds: (node) => fileFieldsOf(node).flatMap(({ name }) => [node.fieldValues?.get(name)].flat().filter(isMediaId)),
  savedValue: (node, port) => (port === null ? undefined : defaultsOf(node).get(port)),
  savedCount: () => 1,
};

/** Request inputs of the graph itself, without those of inlined workflows. */
export const requestInputs = (graph: Graph): GraphNode[] =>
  graph.nodes.filter(({ type, fieldValues }) => type === requestInput.type && fieldValues === undefined);

/** Inputs that the workflow accepts; empty without a request-input node. */
export const inputFields = (graph: Graph): InputField[] => requestInputs(graph).flatMap((node) => fieldsOf(node.data));

/** Returns the value that each field has in the editor, its default, or null. */
export const savedValues = (graph: Graph): Record<string, unknown> => {
  const saved = new Map<string, unknown>();
  for (const node of requestInputs(graph)) {
    const values = isRecord(node.data.values) ? node.data.values : {};
    for (const field of fieldsOf(node.data))
      saved.set(field.name, Object.hasOwn(values, field.name) ? values[field.name] : (field.default ?? null));
  }
  return Object.fromEntries(saved);
};
