import { isRecord, type JsonSchema } from "@nodeloom/kernel";
import type { WorkflowNode } from "./workflow";

/** Finds possible inputs of a workflow: values of its nodes that aren't connections. */

/** The server's definition of a node class (`/object_info`). */
export interface ClassInfo {
  displayName: string;
  /** Each input's type or choices, and options, by input name. */
  inputs: ReadonlyMap<string, readonly unknown[]>;
}
export type Classes = ReadonlyMap<string, ClassInfo>;

export interface FoundInput {
  node: string;
  input: string;
  title: string;
  classType: string;
  value: string | number | boolean;
  /** Suggested input name. */
  name: string;
  /** True if the node has its own title. */
  isTitled: boolean;
  schema: JsonSchema;
}

const MAX_TEXT_CHARS = 65_536;
const MAX_CHOICES = 200;
const MAX_NAME_CHARS = 60;
const MAX_SEED = Number.MAX_SAFE_INTEGER;
const UPLOADS: readonly (readonly [string, string])[] = [
  ["image_upload", "image/*"],
  ["video_upload", "video/*"],
  ["audio_upload", "audio/*"],
];
/** Classes that load a file, for servers whose definitions don't mark them. */
const LOADERS: Readonly<Record<string, readonly [string, string]>> = {
  LoadImage: ["image", "image/*"],
  LoadImageMask: ["image", "image/*"],
  LoadAudio: ["audio", "audio/*"],
  LoadVideo: ["file", "video/*"],
  VHS_LoadVideo: ["video", "video/*"],
};

/** Parses the definition of one class. */
export const readClass = (info: unknown): ClassInfo | undefined => {
  if (!isRecord(info)) return undefined;
  const { input, display_name: displayName } = info;
  const groups = isRecord(input) ? [input.required, input.optional].filter(isRecord) : [];
  const inputs = groups.flatMap(Object.entries).filter((one): one is [string, unknown[]] => Array.isArray(one[1]));
  return { displayName: typeof displayName === "string" ? displayName : "", inputs: new Map(inputs) };
};

const isPrimitive = (value: unknown): value is FoundInput["value"] => ["string", "number", "boolean"].includes(typeof value);

const plainName = (text: string): string =>
  text
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_")
    .slice(0, MAX_NAME_CHARS)
    .replace(/^_|_$/g, "");

const mediaType = ({ classType }: WorkflowNode, input: string, options: Readonly<Record<string, unknown>>): string | undefined => {
  const uploadType = UPLOADS.find(([flag]) => options[flag] === true)?.[1];
  const loader = Object.hasOwn(LOADERS, classType) ? LOADERS[classType] : undefined;
  return uploadType ?? (loader?.[0] === input ? loader[1] : undefined);
};

/** Limits a bound to exact JSON numbers, because ComfyUI's seeds can be larger. */
const bound = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isFinite(value) ? Math.max(-MAX_SEED, Math.min(MAX_SEED, value)) : undefined;

const numeric = (type: "integer" | "number", options: Readonly<Record<string, unknown>>): JsonSchema => {
  const [minimum, maximum] = [bound(options.min), bound(options.max)];
  return { type, ...(minimum === undefined ? {} : { minimum }), ...(maximum === undefined ? {} : { maximum }) };
};

const choicesOf = (kind: unknown, options: Readonly<Record<string, unknown>>): string[] => {
  const choices = Array.isArray(kind) ? (kind as unknown[]) : kind === "COMBO" && Array.isArray(options.options) ? options.options : [];
  return choices.filter((choice): choice is string => typeof choice === "string");
};

const valueSchema = (value: FoundInput["value"], kind: unknown, options: Readonly<Record<string, unknown>>): JsonSchema => {
  const choices = choicesOf(kind, options);
  if (typeof value === "boolean") return { type: "boolean", default: value };
  if (typeof value === "number") {
    const isWhole = kind === "INT" || (kind !== "FLOAT" && Number.isInteger(value));
    return { ...numeric(isWhole ? "integer" : "number", options), ...(Number.isSafeInteger(value) || !isWhole ? { default: value } : {}) };
  }
  if (choices.length > 0 && choices.length <= MAX_CHOICES && choices.includes(value))
    return { type: "string", enum: choices, default: value };
  return { type: "string", maxLength: MAX_TEXT_CHARS, default: value };
};

const schemaOf = (node: WorkflowNode, input: string, value: FoundInput["value"], info: ClassInfo | undefined): JsonSchema => {
  const [kind, options] = info?.inputs.get(input) ?? [];
  const inputOptions = isRecord(options) ? options : {};
  const file = mediaType(node, input, inputOptions);
  if (file !== undefined) return { type: "string", format: "media", contentMediaType: file, minLength: 1 };
  return valueSchema(value, kind, inputOptions);
};

/** True if the title differs from the class's display name. */
const isTitled = ({ title, classType }: WorkflowNode, info: ClassInfo | undefined): boolean => {
  if (title === "" || title === info?.displayName) return false;
  const [plain, className] = [plainName(title).replaceAll("_", ""), plainName(classType).replaceAll("_", "")];
  return info !== undefined || !(plain.startsWith(className) || className.startsWith(plain));
};

const unique = (foundInputs: readonly FoundInput[]): FoundInput[] => {
  const takenNames = new Set<string>();
  return foundInputs.map((one) => {
    const name = takenNames.has(one.name) ? `${one.name}_${plainName(one.node)}` : one.name;
    takenNames.add(name);
    return { ...one, name };
  });
};

/** Returns values that can become inputs. Values of titled nodes come first. */
export const findInputs = (nodes: readonly WorkflowNode[], classes: Classes): FoundInput[] => {
  const foundInputs = nodes.flatMap((node) => {
    const info = classes.get(node.classType);
    const titled = isTitled(node, info);
    const values = Object.entries(node.inputs).filter((one): one is [string, FoundInput["value"]] => isPrimitive(one[1]));
    return values.map(([input, value]): FoundInput => {
      const own = plainName(titled ? node.title : "");
      const name = own === "" ? plainName(input) : values.length === 1 ? own : `${own}_${plainName(input)}`;
      const schema = {
        title: titled && values.length === 1 ? node.title : `${node.title || node.classType}: ${input}`,
        ...schemaOf(node, input, value, info),
      };
      return {
        node: node.id,
        input,
        title: node.title,
        classType: node.classType,
        value,
        name: /^[a-z]/.test(name) ? name : `input_${name}`,
        isTitled: titled,
        schema,
      };
    });
  });
  return unique(foundInputs.sort((a, b) => Number(b.isTitled) - Number(a.isTitled)));
};
