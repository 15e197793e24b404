import { callsTransform, isRecord, labelOf, mediaOperation, type GraphNode } from "@nodeloom/kernel/graph";
import { kindOf } from "./kinds";
import { textOf, type Writes } from "./kinds/look";
import type { NodePorts } from "./ports";
import { settingAt, settingPath } from "./setting-path";
import { mainSettings, type NodeSetting } from "./settings";
import { COMMON } from "../messages/common";
import { FACE } from "../messages/canvas";

/** Contents of a node besides its ports: a line of settings, its editable text, and its main settings. */
export interface Face {
  line: string | undefined;
  text: FaceText | undefined;
  settings: readonly NodeSetting[];
}

export interface FaceText extends Pick<Writes, "label" | "placeholder" | "lines"> {
  value: string;
  /** Path of the text in `data`, and its form. */
  path: readonly string[];
  toSetting: (text: string) => unknown;
}

const PROMPT = "prompt";
/** Setting with the text that an operation writes on a picture or a video. */
const WRITTEN = "text";
const LINES = 3;
const asText = (text: string): unknown => text;

const promptOf = (node: GraphNode, { wired, allInputs }: NodePorts): FaceText | undefined => {
  if (wired.has(PROMPT) || !allInputs.some(({ name, type }) => name === PROMPT && type === "text")) return undefined;
  const path = settingPath(node, PROMPT);
  const value = settingAt(node, path) ?? "";
  if (typeof value !== "string") return undefined;
  return { label: FACE.prompt, placeholder: FACE.promptPlaceholder, value, lines: LINES, path, toSetting: asText };
};

/** A text setting; settings of other types are edited in the panel. */
const plainText = ({ data }: GraphNode, { setting, ...look }: Writes): FaceText | undefined => {
  const value = data[setting] ?? "";
  return typeof value === "string" ? { ...look, value, path: [setting], toSetting: asText } : undefined;
};

/** Each line is one item. Lists with other items are edited in the panel. */
const listText = ({ data }: GraphNode, { setting, ...look }: Writes): FaceText | undefined => {
  const listSetting = data[setting];
  const items: unknown[] = Array.isArray(listSetting) ? listSetting : [];
  if (!items.every((item): item is string => typeof item === "string" && !item.includes("\n"))) return undefined;
  return { ...look, value: items.join("\n"), path: [setting], toSetting: (text) => (text === "" ? [] : text.split("\n")) };
};

/** Text that an operation writes, if no link provides it. */
const writtenBy = (node: GraphNode, { wired, schema }: NodePorts): FaceText | undefined => {
  const property = isRecord(schema?.properties) ? schema.properties[WRITTEN] : undefined;
  const value = node.data[WRITTEN] ?? "";
  if (!isRecord(property) || property.type !== "string" || wired.has(WRITTEN) || typeof value !== "string") return undefined;
  return { label: COMMON.text, placeholder: FACE.textPlaceholder, value, lines: 2, path: [WRITTEN], toSetting: asText };
};

const NOTHING: Face = { line: undefined, text: undefined, settings: [] };

export const faceOf = (node: GraphNode, ports: NodePorts): Face => {
  const { rules, summary, modality, writes, line } = kindOf(node.type);
  const { data } = node;
  if (rules?.isResult === true || rules?.mediaIds !== undefined) return NOTHING;
  const settings = mainSettings(node, ports);
  if (modality !== undefined && rules?.portsOfModel === true)
    return { line: textOf(data.model) || COMMON.chooseModel, text: promptOf(node, ports), settings };
  // The operation is the default title of its node.
  if (callsTransform(node.type))
    return {
      line: labelOf(node) === undefined && mediaOperation(data.operation) ? undefined : summary(data),
      text: writtenBy(node, ports),
      settings,
    };
  const text = writes && (writes.isList ? listText(node, writes) : plainText(node, writes));
  return { line: text ? line?.(data) : summary(data).split("\n")[0], text, settings };
};
