import type { ChatSettings } from "./chat-call";

/** Files that are sent to a text model with the prompt. */

/** File types by input of a text model. */
const KINDS = {
  image: "image",
  images: "image",
  document: "document",
  documents: "document",
  audio: "audio",
  video: "video",
} as const;

export interface PromptFile {
  kind: (typeof KINDS)[keyof typeof KINDS];
  /** The file's URL, or a data URL. */
  url: string;
  /** Content of a data URL. */
  inline?: { contentType: string; base64: string };
}

const DATA_URL = /^data:([^;,]*)(?:;[^,]*)?;base64,/i;

const fileOf = (kind: PromptFile["kind"], url: string): PromptFile => {
  const [head, contentType = ""] = DATA_URL.exec(url) ?? [];
  return head === undefined
    ? { kind, url }
    : { kind, url, inline: { contentType: contentType.toLowerCase(), base64: url.slice(head.length) } };
};

const kindOf = (name: string): PromptFile["kind"] | undefined =>
  Object.hasOwn(KINDS, name) ? KINDS[name as keyof typeof KINDS] : undefined;

/** Inputs whose files become parts of the prompt: images, and inputs that the entry declares. */
const fileInputs = ({ files = {} }: ChatSettings): string[] =>
  ["image", ...Object.keys(files)].filter((name) => kindOf(name) !== undefined);

/**
 * Files of a call, by input.
 * @returns the files, and the names of their inputs, which must not also be sent separately
 */
export const promptFiles = (
  settings: ChatSettings,
  inputs: Readonly<Record<string, unknown>>,
): { names: string[]; files: PromptFile[] } => {
  const names = [...new Set(fileInputs(settings))];
  const files = names.flatMap((name) =>
    [inputs[name]].flat().flatMap((url) => (typeof url === "string" && url !== "" ? [fileOf(kindOf(name)!, url)] : [])),
  );
  return { names, files };
};
