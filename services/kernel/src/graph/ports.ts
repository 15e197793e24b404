import { fieldsOf } from "./fields";
import { propertySchema, type JsonSchema } from "./price";
import { callsModel, isRecord, type GraphNode } from "./types";
import { placeholders, placeholdersIn } from "./value";

/** What a port carries. `media` is a file of any kind. */
export type PortType = "text" | "number" | "boolean" | "image" | "video" | "audio" | "media" | "any";

export interface InputPort {
  type: PortType;
  /** Takes a list as it is; on any other port a list maps the node over its items. */
  list: boolean;
}

const MEDIA_TYPES: readonly PortType[] = ["image", "video", "audio", "media"];

/** Which outputs may flow into which inputs. Text may carry a media URL; anything but media may become text. */
export const compatible = (from: PortType, to: PortType): boolean => {
  if (from === "any" || to === "any" || from === to) return true;
  if (MEDIA_TYPES.includes(to)) return from === "text" || from === "media" || (to === "media" && MEDIA_TYPES.includes(from));
  return to === "text" && !MEDIA_TYPES.includes(from);
};

// Maps, because the names that are looked up are the users' own.
const FIELD_PORTS: ReadonlyMap<string, PortType> = new Map([
  ["text", "text"],
  ["textarea", "text"],
  ["select", "text"],
  ["number", "number"],
  ["boolean", "boolean"],
  ["image_upload", "image"],
  ["video_upload", "video"],
  ["audio_upload", "audio"],
]);
const RESULT_PORTS: ReadonlyMap<string, PortType> = new Map([
  ["images", "image"],
  ["videos", "video"],
  ["audios", "audio"],
]);
const OUTPUT_OF: ReadonlyMap<string, readonly [string, PortType]> = new Map([
  ["text-box", ["text", "text"]],
  ["llm-assistant", ["text", "text"]],
  ["generate-image", ["image", "image"]],
  ["generate-video", ["video", "video"]],
  ["generate-audio", ["audio", "audio"]],
  ["list", ["items", "any"]],
  ["media-upload", ["media", "media"]],
]);

/** The output ports of a node, the first being its default. */
export const outputPorts = (node: GraphNode): Map<string, PortType> => {
  if (node.type === "request-input") return new Map(fieldsOf(node.data).map((field) => [field.name, FIELD_PORTS.get(field.type) ?? "any"]));
  if (node.type === "http-request")
    return new Map([
      ["body", "any"],
      ["status", "number"],
    ]);
  const output = OUTPUT_OF.get(node.type);
  return new Map(output ? [output] : []);
};

const schemaPort = (schema: JsonSchema): InputPort => {
  if (schema.format === "media") return { type: "media", list: false };
  if (schema.type === "string") return { type: "text", list: false };
  if (schema.type === "number" || schema.type === "integer") return { type: "number", list: false };
  if (schema.type === "boolean") return { type: "boolean", list: false };
  return { type: "any", list: schema.type === "array" };
};

/** The literal inputs of a node that calls a model: known members of `data`, then all of `data.inputs`; nulls are unset. */
export const literalInputs = (node: GraphNode, schema: JsonSchema | undefined): Record<string, unknown> => {
  const known = Object.entries(node.data).filter(
    ([name]) => name !== "model" && schema !== undefined && propertySchema(schema, name) !== undefined,
  );
  const explicit = isRecord(node.data.inputs) ? Object.entries(node.data.inputs) : [];
  return Object.fromEntries([...known, ...explicit].filter(([, value]) => value !== null && value !== undefined));
};

const namedPorts = (names: readonly string[], type: PortType): [string, InputPort][] => names.map((name) => [name, { type, list: false }]);

const modelPorts = (node: GraphNode, schema: JsonSchema | undefined): Map<string, InputPort> => {
  const properties = schema && isRecord(schema.properties) ? Object.entries(schema.properties) : [];
  const declared = properties
    .filter((entry): entry is [string, JsonSchema] => isRecord(entry[1]))
    .map(([name, property]): [string, InputPort] => [name, schemaPort(property)]);
  return new Map([...namedPorts(placeholdersIn(literalInputs(node, schema)), "any"), ...declared]);
};

/** The input ports of a node. For nodes that call a model they follow the model's input schema. */
export const inputPorts = (node: GraphNode, schema?: JsonSchema): Map<string, InputPort> => {
  if (callsModel(node.type)) return modelPorts(node, schema);
  switch (node.type) {
    case "text-box":
      return new Map(namedPorts(typeof node.data.text === "string" ? placeholders(node.data.text) : [], "any"));
    case "list":
      return new Map([["items", { type: "any", list: true }]]);
    case "http-request": {
      const { url, headers, body } = node.data;
      return new Map([["body", { type: "any", list: false }], ...namedPorts(placeholdersIn([url, headers, body]), "any")]);
    }
    default:
      return new Map();
  }
};

/** The port of a node that takes any name: response-output. */
export const anyInput = (node: GraphNode, name: string): InputPort | undefined =>
  node.type === "response-output" ? { type: RESULT_PORTS.get(name) ?? "any", list: true } : undefined;

const DEFAULT_INPUTS: ReadonlyMap<string, string> = new Map([
  ["list", "items"],
  ["http-request", "body"],
]);
const RESULT_BY_OUTPUT: ReadonlyMap<string, string> = new Map([
  ["image", "images"],
  ["video", "videos"],
  ["audio", "audios"],
]);

/** The port an edge without a target handle means. */
export const defaultInput = (node: GraphNode, outputName: string): string => {
  if (node.type === "response-output") return RESULT_BY_OUTPUT.get(outputName) ?? outputName;
  return DEFAULT_INPUTS.get(node.type) ?? (callsModel(node.type) ? "prompt" : outputName);
};
