import { MEDIA_FAMILIES, mediaFamily } from "../values/media";
import { propertySchema, type JsonSchema } from "../prices/price";
import { isRecord, type GraphNode } from "../types";

/** Which output may flow into which input, and in what order nodes run. */

/** What a port carries. `media` is a file of any kind, `any` whatever JSON can say. */
export const PORT_TYPES = ["text", "number", "boolean", "image", "video", "audio", "media", "any"] as const;
export type PortType = (typeof PORT_TYPES)[number];

export interface InputPort {
  type: PortType;
  /** Takes a list as it is; on any other port a list maps the node over its items. */
  list: boolean;
  /** Only a template of the node makes it. */
  isPlaceholder?: boolean;
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

export const portTypeName = (type: PortType): string => CALLED[type];

const FILE_TYPES = [...MEDIA_FAMILIES, "media"] as const;
export type FileType = (typeof FILE_TYPES)[number];

export const isFileType = (type: PortType | undefined): type is FileType =>
  type !== undefined && (FILE_TYPES as readonly string[]).includes(type);

/** The files that an input of a model takes: its schema may name a family (`"contentMediaType": "image/*"`). */
const fileType = ({ contentMediaType }: JsonSchema): PortType =>
  (typeof contentMediaType === "string" && mediaFamily(contentMediaType)) || "media";

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

/** The ports that the placeholders of a node's templates make. */
export const namedPorts = (names: readonly string[], type: PortType): [string, InputPort][] =>
  names.map((name) => [name, { type, list: false, isPlaceholder: true }]);

/** The ports of a model's own inputs, by name. */
export const schemaPorts = (schema: JsonSchema): [string, InputPort][] =>
  (isRecord(schema.properties) ? Object.entries(schema.properties) : [])
    .filter((entry): entry is [string, JsonSchema] => isRecord(entry[1]))
    .map(([name, property]): [string, InputPort] => [name, schemaPort(property)]);
