import { FILE_TYPES, mediaFamily, type FileType } from "../values/media";
import { propertySchema, type JsonSchema } from "../prices/price";
import { isRecord, type GraphNode, type PortType } from "../types";

/** Port types, and which outputs can connect to which inputs. */

export { PORT_TYPES, type PortType } from "../types";

export interface InputPort {
  type: PortType;
  /** True if the port accepts a list unchanged. On other ports, a list runs the node once per item. */
  list: boolean;
  /** True if the port exists only because of a placeholder in the node's templates. */
  isPlaceholder?: boolean;
}

/** How a port accepts a value: unchanged, converted to text, checked at run time, or never. */
export type Flow = "allowed" | "converted" | "checked" | "refused";

/** A mask is an image file, so it flows into images. An image isn't a mask until an operation decides which parts are selected. */
const INTO_FILES_OF = (own: PortType): Record<FileType, Flow> => ({
  image: own === "image" || own === "mask" ? "allowed" : "refused",
  mask: own === "mask" ? "allowed" : "refused",
  video: own === "video" ? "allowed" : "refused",
  audio: own === "audio" ? "allowed" : "refused",
  model3d: own === "model3d" ? "allowed" : "refused",
  media: "allowed",
});
const INTO_NO_FILE: Readonly<Record<FileType, Flow>> = {
  ...{ image: "refused", mask: "refused", video: "refused", audio: "refused", model3d: "refused", media: "refused" },
};

/** Rows are outputs, columns are inputs. The table is applied before a run. */
export const FLOWS: Readonly<Record<PortType, Readonly<Record<PortType, Flow>>>> = {
  text: {
    ...{ text: "allowed", number: "checked", boolean: "refused", any: "allowed" },
    ...{ image: "checked", mask: "checked", video: "checked", audio: "checked", model3d: "checked", media: "checked" },
  },
  number: { text: "converted", number: "allowed", boolean: "refused", ...INTO_NO_FILE, any: "allowed" },
  boolean: { text: "converted", number: "refused", boolean: "allowed", ...INTO_NO_FILE, any: "allowed" },
  image: { text: "refused", number: "refused", boolean: "refused", ...INTO_FILES_OF("image"), any: "allowed" },
  mask: { text: "refused", number: "refused", boolean: "refused", ...INTO_FILES_OF("mask"), any: "allowed" },
  video: { text: "refused", number: "refused", boolean: "refused", ...INTO_FILES_OF("video"), any: "allowed" },
  audio: { text: "refused", number: "refused", boolean: "refused", ...INTO_FILES_OF("audio"), any: "allowed" },
  model3d: { text: "refused", number: "refused", boolean: "refused", ...INTO_FILES_OF("model3d"), any: "allowed" },
  media: {
    ...{ text: "refused", number: "refused", boolean: "refused", any: "allowed" },
    ...{ image: "checked", mask: "checked", video: "checked", audio: "checked", model3d: "checked", media: "allowed" },
  },
  any: {
    ...{ text: "converted", number: "checked", boolean: "checked", any: "allowed" },
    ...{ image: "checked", mask: "checked", video: "checked", audio: "checked", model3d: "checked", media: "checked" },
  },
};

const CALLED: Readonly<Record<PortType, string>> = {
  text: "text",
  number: "a number",
  boolean: "a boolean",
  image: "an image",
  mask: "a mask",
  video: "a video",
  audio: "an audio file",
  model3d: "a 3D model",
  media: "a file",
  any: "any value",
};

export const portTypeName = (type: PortType): string => CALLED[type];

/** Schema keyword of a file input that is a mask. */
export const MASK_KEYWORD = "x-mask";

export const isFileType = (type: PortType | undefined): type is FileType =>
  type !== undefined && (FILE_TYPES as readonly string[]).includes(type);

/** The type of a file input. Its schema can name a media family (`"contentMediaType": "image/*"`), or say that it is a mask. */
const fileType = ({ contentMediaType, [MASK_KEYWORD]: isMask }: JsonSchema): PortType =>
  isMask === true ? "mask" : (typeof contentMediaType === "string" && mediaFamily(contentMediaType)) || "media";

const schemaPort = (schema: JsonSchema): InputPort => {
  if (schema.format === "media") return { type: fileType(schema), list: false };
  if (schema.type === "array" && isRecord(schema.items) && schema.items.format === "media")
    return { type: fileType(schema.items), list: true };
  if (schema.type === "string") return { type: "text", list: false };
  if (schema.type === "number" || schema.type === "integer") return { type: "number", list: false };
  if (schema.type === "boolean") return { type: "boolean", list: false };
  return { type: "any", list: schema.type === "array" };
};

/** Literal inputs of a model node, from known members of `data` and from `data.inputs`. Null means that an input isn't set. */
export const literalInputs = (node: GraphNode, schema: JsonSchema | undefined): Record<string, unknown> => {
  const modelSettings = Object.entries(node.data).filter(
    ([name]) => name !== "model" && schema !== undefined && propertySchema(schema, name) !== undefined,
  );
  const explicit = isRecord(node.data.inputs) ? Object.entries(node.data.inputs) : [];
  return Object.fromEntries([...modelSettings, ...explicit].filter(([, value]) => value !== null && value !== undefined));
};

export const namedPorts = (names: readonly string[], type: PortType): [string, InputPort][] =>
  names.map((name) => [name, { type, list: false, isPlaceholder: true }]);

export const schemaPorts = (schema: JsonSchema): [string, InputPort][] =>
  (isRecord(schema.properties) ? Object.entries(schema.properties) : [])
    .filter((entry): entry is [string, JsonSchema] => isRecord(entry[1]))
    .map(([name, property]): [string, InputPort] => [name, schemaPort(property)]);
