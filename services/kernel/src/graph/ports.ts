import { fieldsOf } from "./fields";
import { MEDIA_FAMILIES } from "./media";
import { propertySchema, type JsonSchema } from "./price";
import { callsModel, isRecord, type GraphNode } from "./types";
import { placeholders, placeholdersIn } from "./value";

/** What a port carries. `media` is a file of any kind, `any` whatever JSON can say. */
export const PORT_TYPES = ["text", "number", "boolean", "image", "video", "audio", "media", "any"] as const;
export type PortType = (typeof PORT_TYPES)[number];

export interface InputPort {
  type: PortType;
  /** Takes a list as it is; on any other port a list maps the node over its items. */
  list: boolean;
}

/**
 * What becomes of a value on its way into a port: it arrives as it is, becomes text, is looked at when it is there, or
 * can't flow there at all.
 */
export type Flow = "allowed" | "converted" | "checked" | "refused";

const INTO_FILES_OF = (own: PortType): Record<"image" | "video" | "audio" | "media", Flow> => ({
  image: own === "image" ? "allowed" : "refused",
  video: own === "video" ? "allowed" : "refused",
  audio: own === "audio" ? "allowed" : "refused",
  media: "allowed",
});
const INTO_NO_FILE = { image: "refused", video: "refused", audio: "refused", media: "refused" } as const;

/** Which outputs (outer) may flow into which inputs (inner). Checked before a run. */
export const FLOWS: Readonly<Record<PortType, Readonly<Record<PortType, Flow>>>> = {
  text: {
    ...{ text: "allowed", number: "checked", boolean: "refused", any: "allowed" },
    ...{ image: "checked", video: "checked", audio: "checked", media: "checked" },
  },
  number: { text: "converted", number: "allowed", boolean: "refused", ...INTO_NO_FILE, any: "allowed" },
  boolean: { text: "converted", number: "refused", boolean: "allowed", ...INTO_NO_FILE, any: "allowed" },
  image: { text: "refused", number: "refused", boolean: "refused", ...INTO_FILES_OF("image"), any: "allowed" },
  video: { text: "refused", number: "refused", boolean: "refused", ...INTO_FILES_OF("video"), any: "allowed" },
  audio: { text: "refused", number: "refused", boolean: "refused", ...INTO_FILES_OF("audio"), any: "allowed" },
  media: {
    ...{ text: "refused", number: "refused", boolean: "refused", any: "allowed" },
    ...{ image: "checked", video: "checked", audio: "checked", media: "allowed" },
  },
  any: {
    ...{ text: "converted", number: "checked", boolean: "checked", any: "allowed" },
    ...{ image: "checked", video: "checked", audio: "checked", media: "checked" },
  },
};

const CALLED: Readonly<Record<PortType, string>> = {
  text: "text",
  number: "a number",
  boolean: "a boolean",
  image: "an image",
  video: "a video",
  audio: "an audio file",
  media: "a file",
  any: "any value",
};

/** A type as messages call it. */
export const portTypeName = (type: PortType): string => CALLED[type];

const FILE_TYPES = ["image", "video", "audio", "media"] as const;
export type FileType = (typeof FILE_TYPES)[number];

/** True for ports that take files. */
export const isFileType = (type: PortType | undefined): type is FileType =>
  type !== undefined && (FILE_TYPES as readonly string[]).includes(type);

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

/** The files that an input of a model takes: its schema may name a family (`"contentMediaType": "image/*"`). */
const fileType = ({ contentMediaType }: JsonSchema): PortType => {
  const family = typeof contentMediaType === "string" ? contentMediaType.split("/")[0] : undefined;
  return MEDIA_FAMILIES.find((one) => one === family) ?? "media";
};

const schemaPort = (schema: JsonSchema): InputPort => {
  if (schema.format === "media") return { type: fileType(schema), list: false };
  if (schema.type === "array" && isRecord(schema.items) && schema.items.format === "media")
    return { type: fileType(schema.items), list: true };
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

/** The ports of a model's own inputs, by name. */
export const schemaPorts = (schema: JsonSchema): [string, InputPort][] =>
  (isRecord(schema.properties) ? Object.entries(schema.properties) : [])
    .filter((entry): entry is [string, JsonSchema] => isRecord(entry[1]))
    .map(([name, property]): [string, InputPort] => [name, schemaPort(property)]);

const modelPorts = (node: GraphNode, schema: JsonSchema | undefined): Map<string, InputPort> => {
  const declared = schema ? schemaPorts(schema) : [];
  const isFilled = new Map(declared.map(([name, port]) => [name, port.type === "text"]));
  // Without a schema it can't be told which literals are texts.
  const texts = Object.entries(literalInputs(node, schema)).filter(([name]) => isFilled.get(name) ?? schema === undefined);
  return new Map([...namedPorts(placeholdersIn(texts.map(([, text]) => text)), "any"), ...declared]);
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
