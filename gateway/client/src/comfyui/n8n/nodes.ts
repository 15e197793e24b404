import { isRecord, recordsOf, textOf } from "../graph";
import { quoted } from "../report";
import { TYPES } from "../targets";
import { readTemplate, type Reference, type Template } from "./expressions";
import type { N8nNode } from "./graph";
import { assignmentsOf, branchPorts, connect, fieldId, idOf, resolve, type N8nImport } from "./sources";

/** Converts single nodes of n8n. Nodes are created before links, because a link can need nodes on both sides. */

type Wires = Map<string, Reference>;

interface Draft {
  id: string;
  type: string;
  data: Record<string, unknown>;
  /** References by the port that takes them. */
  wires: Wires;
}

const noteCode = (task: N8nImport, { name }: N8nNode, { code }: Template): void => {
  for (const text of code) task.report.add(`${quoted(name)} has an expression without a counterpart: ${quoted(text)}.`);
};

const textIn = (task: N8nImport, node: N8nNode, value: unknown, wires: Wires): string => {
  const template = readTemplate(value, wires);
  noteCode(task, node, template);
  return template.text;
};

const fieldDrafts = (task: N8nImport, node: N8nNode): Draft[] =>
  assignmentsOf(node).map(({ name, value }, index) => {
    const wires: Wires = new Map();
    const data = { label: name.slice(0, MOST_LABEL), text: textIn(task, node, value, wires) };
    return { id: fieldId(task, node, index), type: TYPES.text, data, wires };
  });
const MOST_LABEL = 80;

const pairsOf = (list: unknown): Record<string, unknown>[] => (isRecord(list) ? recordsOf(list.parameters) : []);

const requestDraft = (task: N8nImport, node: N8nNode): Draft => {
  const { parameters, name } = node;
  const wires: Wires = new Map();
  const text = (value: unknown): string => textIn(task, node, value, wires);
  const namedTexts = (list: unknown): [string, string][] =>
    pairsOf(list).flatMap((pair) => (textOf(pair.name) === undefined ? [] : [[String(pair.name), text(pair.value)]]));
  const query = namedTexts(parameters.queryParameters).map(([key, value]) => `${encodeURIComponent(key)}=${value}`);
  const url = text(parameters.url);
  const headers = Object.fromEntries(namedTexts(parameters.headerParameters));
  const fields = namedTexts(parameters.bodyParameters);
  const raw = parameters.jsonBody ?? parameters.body;
  const body = raw === undefined ? (fields.length > 0 ? Object.fromEntries(fields) : undefined) : text(raw);
  if (parameters.authentication !== undefined && parameters.authentication !== "none")
    task.report.add(`Put the credentials of ${quoted(name)} into a secret, and name it in a header as {{secrets.NAME}}.`);
  const method = textOf(parameters.method) ?? textOf(parameters.requestMethod) ?? "GET";
  return {
    ...{ id: idOf(task, node), type: "http-request", wires },
    data: {
      ...{ label: name, method, url: query.length > 0 ? `${url}${url.includes("?") ? "&" : "?"}${query.join("&")}` : url },
      ...(Object.keys(headers).length > 0 && { headers }),
      ...(body !== undefined && { body }),
    },
  };
};

const OPERATORS: Readonly<Record<string, string>> = {
  ...{ equals: "equals", equal: "equals", notEquals: "notEquals", notEqual: "notEquals", contains: "contains", regex: "matches" },
  ...{ gt: "greater", larger: "greater", lt: "less", smaller: "less", exists: "exists", notEmpty: "exists", isNotEmpty: "exists" },
  ...{ empty: "empty", isEmpty: "empty", notExists: "empty", true: "equals", false: "equals" },
};

interface Condition {
  left: unknown;
  operation: string;
  right: unknown;
}

/** Conditions of one output, for all versions of the node. */
const conditionsOf = (conditions: unknown): Condition[] => {
  if (!isRecord(conditions)) return [];
  const old = ["string", "number", "boolean"].flatMap((kind) => recordsOf(conditions[kind]));
  return [
    ...recordsOf(conditions.conditions).map(({ leftValue, rightValue, operator }) => ({
      ...{ left: leftValue, right: rightValue },
      operation: isRecord(operator) ? String(operator.operation) : "equals",
    })),
    ...old.map(({ value1, value2, operation }) => ({ left: value1, right: value2, operation: textOf(operation) ?? "equal" })),
  ];
};

const branchDraft = (task: N8nImport, node: N8nNode): Draft => {
  const { parameters, name } = node;
  const wires: Wires = new Map();
  const rules = isRecord(parameters.rules) ? recordsOf(parameters.rules.values ?? parameters.rules.rules) : [];
  const outputs = node.type === "switch" ? rules.map(({ conditions }) => conditionsOf(conditions)) : [conditionsOf(parameters.conditions)];
  const ports = branchPorts(node, outputs.length);
  const cases = outputs.map(([first, ...others], index) => {
    const op = OPERATORS[first?.operation ?? ""];
    if (op === undefined || others.length > 0)
      task.report.add(`Check the cases of ${quoted(name)}: a case here has one comparison, and not all of n8n's exist.`);
    const isFlag = first?.operation === "true" || first?.operation === "false";
    const right = isFlag ? first.operation : textIn(task, node, first?.right, wires);
    return { name: ports[index]!, left: textIn(task, node, first?.left, wires), op: op ?? "equals", right };
  });
  return { id: idOf(task, node), type: "switch", data: { label: name, cases }, wires };
};

const messagesOf = ({ parameters }: N8nNode): Record<string, unknown>[] => {
  const { messages, prompt } = parameters;
  const box = isRecord(messages) ? messages : isRecord(prompt) ? prompt : {};
  return [...recordsOf(box.values), ...recordsOf(box.messages), ...recordsOf(box.messageValues)];
};
const contentOf = ({ content, message }: Record<string, unknown>): unknown => content ?? message;
const isSystem = ({ role, type }: Record<string, unknown>): boolean => /system/i.test(`${String(role)} ${String(type)}`);
const AUTO_INPUT = "={{ $json.chatInput }}";

/** Models of tasks for nodes that create something from a text. */
const MAKERS = {
  chat: [TYPES.chat, "auto:text"],
  image: [TYPES.image, "auto:image"],
  speech: [TYPES.audio, "auto:speech"],
} as const;

const makerDraft = (task: N8nImport, node: N8nNode, role: keyof typeof MAKERS): Draft => {
  const { parameters, name } = node;
  const wires: Wires = new Map();
  const messages = messagesOf(node);
  const spoken = messages.filter((message) => !isSystem(message)).map(contentOf);
  const direct = [parameters.text, parameters.prompt, parameters.input].find((value) => typeof value === "string" && value !== "");
  const systemText = isRecord(parameters.options) ? parameters.options.systemMessage : undefined;
  const systems = [systemText, ...messages.filter(isSystem).map(contentOf)].filter((value) => value !== undefined && value !== "");
  const texts = (values: readonly unknown[]): string => values.map((value) => textIn(task, node, value, wires)).join("\n");
  const prompt = texts(direct !== undefined ? [direct, ...spoken] : spoken.length > 0 ? spoken : [AUTO_INPUT]);
  const system = texts(systems);
  const [type, model] = MAKERS[role];
  // A link to the prompt itself shows on the canvas where the text comes from.
  const [, only] = system === "" ? (/^\{\{(\w+)\}\}$/.exec(prompt) ?? []) : [];
  const linkedPrompt = only === undefined ? undefined : wires.get(only);
  if (linkedPrompt) wires.clear();
  if (linkedPrompt) wires.set("prompt", linkedPrompt);
  const inputs = { ...(!linkedPrompt && { prompt }), ...(system !== "" && { system }) };
  return { id: idOf(task, node), type, wires, data: { label: name, model, ...(role === "chat" ? inputs : { inputs }) } };
};

const draftsOf = (task: N8nImport, node: N8nNode): Draft[] => {
  if (node.role === "fields") return fieldDrafts(task, node);
  if (node.role === "request") return [requestDraft(task, node)];
  if (node.role === "branch") return [branchDraft(task, node)];
  return node.role === "chat" || node.role === "image" || node.role === "speech" ? [makerDraft(task, node, node.role)] : [];
};

/** Adds the nodes, then their links. */
export const addNodes = (task: N8nImport): void => {
  const added: { node: N8nNode; draft: Draft }[] = [];
  for (const node of task.nodes) {
    if (node.isDisabled) continue;
    for (const draft of draftsOf(task, node)) {
      const { id, type, data } = draft;
      task.drafts.set(id, { id, type, data, x: node.x, y: node.y + added.length });
      added.push({ node, draft });
    }
  }
  for (const { node, draft } of added)
    for (const [port, reference] of draft.wires) {
      const source = resolve(task, node, reference);
      if (source) connect(task, source, draft.id, port);
      else
        task.report.add(
          `${quoted(node.name)} uses a value that wasn't found: ${quoted([reference.node, ...reference.path].filter(Boolean).join("."))}.`,
        );
    }
};
