import { isRecord } from "@nodeloom/kernel";
import { pointer } from "../../pointer";

/** What the history of a ComfyUI server says of one prompt. */

export interface OutputFile {
  filename: string;
  subfolder: string;
  type: string;
}

const EXTENSIONS = {
  image: /\.(?:png|jpe?g|webp|gif|avif|bmp|tiff?)$/i,
  video: /\.(?:mp4|webm|mkv|mov|avi)$/i,
  audio: /\.(?:flac|mp3|wav|ogg|opus|m4a|aac)$/i,
} as const;
/** What a preview shows is not kept there. */
const KEPT = "output";

const outputFile = (value: unknown): OutputFile[] => {
  if (!isRecord(value) || typeof value.filename !== "string" || value.filename === "") return [];
  const { filename, subfolder, type } = value;
  return [{ filename, subfolder: typeof subfolder === "string" ? subfolder : "", type: typeof type === "string" ? type : KEPT }];
};

/** Every file of a prompt's nodes, whatever its list is called: images, gifs, audio, video. */
const allFiles = (entry: unknown): OutputFile[] => {
  const outputs = pointer(entry, "/outputs");
  const nodes = isRecord(outputs) ? Object.values(outputs) : [];
  return nodes
    .flatMap((node) => (isRecord(node) ? Object.values(node) : []))
    .flatMap((list) => (Array.isArray(list) ? list.flatMap(outputFile) : []));
};

/** The files of what a workflow makes: those that it kept, or, where it kept none, its previews. */
export const filesIn = (entry: unknown, makes: keyof typeof EXTENSIONS): OutputFile[] => {
  const fitting = allFiles(entry).filter(({ filename }) => EXTENSIONS[makes].test(filename));
  const kept = fitting.filter(({ type }) => type === KEPT);
  return kept.length > 0 ? kept : fitting;
};

const messageOf = (messages: readonly unknown[], name: string): Readonly<Record<string, unknown>> | undefined => {
  const found = messages.find((one) => Array.isArray(one) && one[0] === name) as unknown[] | undefined;
  return found && (isRecord(found[1]) ? found[1] : {});
};

/** Why a prompt ended without a result: `interrupted`, or what a node said. Undefined for one that ended well. */
export const errorIn = (entry: unknown): string | undefined => {
  const messages = pointer(entry, "/status/messages");
  const list = Array.isArray(messages) ? (messages as unknown[]) : [];
  if (messageOf(list, "execution_interrupted")) return "interrupted";
  const failed = messageOf(list, "execution_error");
  if (!failed && pointer(entry, "/status/status_str") !== "error") return undefined;
  const { node_type: node, exception_message: said } = failed ?? {};
  const words = typeof said === "string" && said !== "" ? said.trim() : "the workflow failed";
  return typeof node === "string" ? `${node}: ${words}` : words;
};
