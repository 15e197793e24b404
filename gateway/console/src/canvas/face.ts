import { isRecord, labelOf, mediaOperation, type GraphNode } from "@nodeloom/kernel/graph";
import { kindOf } from "./kinds";
import { textOf, type Writes } from "./kinds/look";
import type { NodePorts } from "./ports";

/** Contents of a node besides its ports: a line of settings, and the one text that people edit there. */
export interface Face {
  line: string | undefined;
  text: FaceText | undefined;
}

export interface FaceText extends Pick<Writes, "label" | "placeholder" | "lines"> {
  value: string;
  /** Path of the text in `data`, and its form. */
  path: readonly string[];
  toSetting: (text: string) => unknown;
}

const PROMPT = "prompt";
const LINES = 3;
const asText = (text: string): unknown => text;

/** Path of a model's setting: where it already is, else among the kind's settings or the inputs. */
export const settingPath = ({ type, data }: GraphNode, name: string): string[] => {
  const inputs = isRecord(data.inputs) ? data.inputs : {};
  if (Object.hasOwn(inputs, name)) return ["inputs", name];
  const ofKind = kindOf(type).rules?.settings ?? {};
  return Object.hasOwn(data, name) || Object.hasOwn(ofKind, name) ? [name] : ["inputs", name];
};

export const settingAt = ({ data }: GraphNode, path: readonly string[]): unknown =>
  path.reduce<unknown>((value, name) => (isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined), data);

const promptOf = (node: GraphNode, { wired, allInputs }: NodePorts): FaceText | undefined => {
  if (wired.has(PROMPT) || !allInputs.some(({ name, type }) => name === PROMPT && type === "text")) return undefined;
  const path = settingPath(node, PROMPT);
  const value = settingAt(node, path) ?? "";
  if (typeof value !== "string") return undefined;
  return { label: "Prompt", placeholder: "Write a prompt, or link a text", value, lines: LINES, path, toSetting: asText };
};

/** A text setting; settings of other types are edited in the panel. */
const plainText = ({ data }: GraphNode, { setting, ...look }: Writes): FaceText | undefined => {
  const value = data[setting] ?? "";
  return typeof value === "string" ? { ...look, value, path: [setting], toSetting: asText } : undefined;
};

/** Items are one per line; lists with other items are edited in the panel. */
const listText = ({ data }: GraphNode, { setting, ...look }: Writes): FaceText | undefined => {
  const given = data[setting];
  const items: unknown[] = Array.isArray(given) ? given : [];
  if (!items.every((item): item is string => typeof item === "string" && !item.includes("\n"))) return undefined;
  return { ...look, value: items.join("\n"), path: [setting], toSetting: (text) => (text === "" ? [] : text.split("\n")) };
};

export const faceOf = (node: GraphNode, ports: NodePorts): Face => {
  const { rules, summary, modality, writes, line } = kindOf(node.type);
  const { data } = node;
  if (rules?.isResult === true || rules?.mediaIds !== undefined) return { line: undefined, text: undefined };
  if (modality !== undefined && rules?.portsOfModel === true)
    return { line: textOf(data.model) || "Choose a model", text: promptOf(node, ports) };
  const text = writes && (writes.isList ? listText(node, writes) : plainText(node, writes));
  // The title of a node without a name is its operation.
  if (labelOf(node) === undefined && mediaOperation(data.operation)) return { line: undefined, text };
  return { line: text ? line?.(data) : summary(data).split("\n")[0], text };
};
