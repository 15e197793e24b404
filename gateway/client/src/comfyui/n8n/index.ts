import { isRecord, recordsOf, textOf } from "../graph";
import { arranged } from "../layout";
import { listed, quoted, Report } from "../report";
import { RESULT_PORTS, TYPES } from "../targets";
import { portName, readTemplate } from "./expressions";
import { n8nNodes, type N8nNode, type Role } from "./graph";
import { addNodes } from "./nodes";
import { assignmentsOf, connect, idOf, inputName, INPUTS_ID, resolve, sourceOf, type N8nImport, type Source } from "./sources";

/** Converts workflows of n8n: requests, texts, models and branches become nodes, and triggers become inputs. */

const RESULT_ID = "n8n-result";
const REPORT_ID = "n8n-report";
const COLUMN = 340;
const MOST_NOTE = 10_000;
const CONVERTED: readonly Role[] = ["fields", "request", "branch", "chat", "image", "speech"];
const isConverted = ({ role, isDisabled }: N8nNode): boolean => !isDisabled && CONVERTED.includes(role);

/** Fields of n8n's forms are inputs, whether a node uses them or not. */
const addFormFields = (task: N8nImport): void => {
  for (const { role, parameters } of task.nodes) {
    if (role !== "trigger" || !isRecord(parameters.formFields)) continue;
    for (const { fieldLabel, fieldType, requiredField } of recordsOf(parameters.formFields.values)) {
      const label = textOf(fieldLabel);
      const name = label === undefined ? undefined : inputName([label]);
      if (name === undefined) continue;
      const type = fieldType === "number" ? "number" : fieldType === "textarea" ? "textarea" : "text";
      task.fields.set(name, { name, type, label, ...(requiredField === true && { required: true }) });
    }
  }
};

const addInputs = (task: N8nImport): void => {
  const [trigger] = task.nodes.filter(({ role }) => role === "trigger");
  if (task.fields.size === 0) return;
  const place = { x: trigger?.x ?? 0, y: trigger?.y ?? 0 };
  task.drafts.set(INPUTS_ID, { id: INPUTS_ID, type: "request-input", data: { fields: [...task.fields.values()], values: {} }, ...place });
};

/** Converted nodes whose values no other one takes, also if nodes that are left out follow. */
const lastNodes = (task: N8nImport): N8nNode[] => {
  const usedNodes = new Set<N8nNode>();
  const pending = task.nodes.filter(isConverted);
  for (let node = pending.pop(); node; node = pending.pop())
    for (const { source } of node.links) {
      const before = task.byName.get(source);
      if (!before || usedNodes.has(before)) continue;
      usedNodes.add(before);
      if (!isConverted(before)) pending.push(before);
    }
  return task.nodes.filter((node) => isConverted(node) && !usedNodes.has(node));
};

/** Links to the result: from what Respond to Webhook sends, else from the last nodes. */
const addResult = (task: N8nImport): void => {
  const replies = task.nodes.filter(({ role, isDisabled }) => role === "reply" && !isDisabled);
  const ends = replies.length > 0 ? replies : lastNodes(task);
  const add = (name: string, source: Source | undefined): void => {
    if (!source) return;
    const type = task.drafts.get(source.id)?.type;
    const kind = type === TYPES.image ? "image" : type === TYPES.audio ? "audio" : undefined;
    connect(task, source, RESULT_ID, kind === undefined ? name : RESULT_PORTS[kind]);
  };
  for (const node of ends) {
    const { references } = readTemplate(node.role === "reply" ? node.parameters.responseBody : undefined);
    for (const [name, reference] of references) add(name, resolve(task, node, reference));
    if (node.role === "fields") for (const { name } of assignmentsOf(node)) add(portName(name), sourceOf(task, node, [name]));
    else if (references.size === 0) add(portName(node.name), sourceOf(task, node, []));
  }
  if (!task.edges.some(({ target }) => target === RESULT_ID)) return;
  const x = Math.max(...[...task.drafts.values()].map((draft) => draft.x)) + COLUMN;
  task.drafts.set(RESULT_ID, { id: RESULT_ID, type: TYPES.result, data: {}, x, y: ends[0]?.y ?? 0 });
};

/** Nodes after a branch that take no value from it run in any case. */
const reportUnheld = (task: N8nImport): void => {
  for (const node of task.nodes.filter(isConverted))
    for (const { source } of node.links) {
      const branch = task.byName.get(source);
      if (branch?.role !== "branch" || branch.isDisabled) continue;
      const from = idOf(task, branch);
      const own = idOf(task, node);
      if (!task.edges.some((edge) => edge.source === from && (edge.target === own || edge.target.startsWith(`${own}-`))))
        task.report.add(`${quoted(node.name)} takes no value through ${quoted(branch.name)}, so it runs in any case.`);
    }
};

const reportLeft = (task: N8nImport): void => {
  const namesOf = (fits: (node: N8nNode) => boolean): string => listed(task.nodes.filter(fits).map(({ type }) => type));
  const lines: readonly [string, (names: string) => string][] = [
    [namesOf(({ role }) => role === "code"), (names) => `Code is left out: ${names}. A json node reshapes values with an expression.`],
    [
      namesOf(({ role, type }) => role === "other" || (role === "inside" && !/^lm/i.test(type))),
      (names) => `Left out, because nothing here is like them: ${names}.`,
    ],
    [namesOf(({ isDisabled }) => isDisabled), (names) => `Left out, because they were deactivated: ${names}.`],
    [
      namesOf(({ role, type }) => role === "inside" && /^lm/i.test(type)),
      (names) => `Each text node chooses its model with auto:text instead of ${names}.`,
    ],
    [
      namesOf(({ role }) => role === "pass"),
      (names) => `Not needed here: ${names}. Links join by themselves, and a list runs the next node once for each item.`,
    ],
    [
      namesOf(({ role }) => role === "trigger"),
      (names) => `${names}: the inputs take its values. Start the workflow over HTTP, or under Schedules and hooks.`,
    ],
  ];
  for (const [names, line] of lines) if (names !== "") task.report.add(line(names));
};

const notesOf = (nodes: readonly N8nNode[]): object[] =>
  nodes.flatMap(({ role, parameters, x, y }, index) => {
    const text = role === "note" ? textOf(parameters.content) : undefined;
    if (text === undefined) return [];
    return [{ id: `n8n-note-${index + 1}`, type: TYPES.note, position: { x, y }, data: { text: text.slice(0, MOST_NOTE) } }];
  });

export interface N8nConversion {
  graph: { nodes: object[]; edges: object[] } | undefined;
  words: string;
}

/**
 * @param most the most nodes of a workflow
 * @returns undefined if the value isn't a workflow of n8n
 */
export const convertN8n = (value: unknown, most: number): N8nConversion | undefined => {
  const nodes = n8nNodes(value);
  if (!nodes) return undefined;
  const byName = new Map(nodes.map((node) => [node.name, node]));
  const task: N8nImport = { nodes, byName, drafts: new Map(), edges: [], fields: new Map(), passed: new Map(), report: new Report() };
  if (!nodes.some(isConverted)) {
    const names = listed(nodes.map(({ type }) => type));
    return { graph: undefined, words: `This n8n workflow has no node that can run here. Its nodes are ${names}.` };
  }
  if (nodes.length > most)
    return { graph: undefined, words: `This n8n workflow has ${nodes.length} nodes. A workflow here has at most ${most}.` };
  addFormFields(task);
  addNodes(task);
  addResult(task);
  addInputs(task);
  reportUnheld(task);
  reportLeft(task);
  const head = `Imported from n8n: ${nodes.length} nodes became ${task.drafts.size} here.`;
  const placed = arranged([...task.drafts.values()]);
  const notes = notesOf(nodes);
  if (placed.length + notes.length + 1 > most) return { graph: undefined, words: `${head} A workflow has at most ${most}.` };
  const at = { x: Math.min(...placed.map(({ x }) => x)) - COLUMN, y: Math.min(...placed.map(({ y }) => y)) };
  const report = { id: REPORT_ID, type: TYPES.note, position: at, data: { text: task.report.text(head).slice(0, MOST_NOTE) } };
  return {
    graph: {
      nodes: [...placed.map(({ id, type, data, x, y }) => ({ id, type, position: { x, y }, data })), ...notes, report],
      edges: task.edges.map((edge, index) => ({ id: `n8n-link-${index}`, ...edge })),
    },
    words: `${head} The note beside them says what was left out.`,
  };
};
