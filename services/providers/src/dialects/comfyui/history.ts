import { isRecord } from "@nodeloom/kernel";
import { pointer } from "../../pointer";

/** Reads the history of a prompt from a ComfyUI server. */

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
/** Folder of saved files. Preview files are stored elsewhere. */
const KEPT = "output";

const outputFile = (value: unknown): OutputFile[] => {
  if (!isRecord(value) || typeof value.filename !== "string" || value.filename === "") return [];
  const { filename, subfolder, type } = value;
  return [{ filename, subfolder: typeof subfolder === "string" ? subfolder : "", type: typeof type === "string" ? type : KEPT }];
};

/** All files of a prompt's nodes, in any list: images, gifs, audio or video. */
const allFiles = (entry: unknown): OutputFile[] => {
  const outputs = pointer(entry, "/outputs");
  const nodes = isRecord(outputs) ? Object.values(outputs) : [];
  return nodes
    .flatMap((node) => (isRecord(node) ? Object.values(node) : []))
    .flatMap((list) => (Array.isArray(list) ? list.flatMap(outputFile) : []));
};

/** Output files of a workflow: saved files, or previews if none were saved. */
export const filesIn = (entry: unknown, makes: keyof typeof EXTENSIONS): OutputFile[] => {
  const fitting = allFiles(entry).filter(({ filename }) => EXTENSIONS[makes].test(filename));
  const keptFiles = fitting.filter(({ type }) => type === KEPT);
  return keptFiles.length > 0 ? keptFiles : fitting;
};

const messageOf = (messages: readonly unknown[], name: string): Readonly<Record<string, unknown>> | undefined => {
  const messageRow = messages.find((one) => Array.isArray(one) && one[0] === name) as unknown[] | undefined;
  return messageRow && (isRecord(messageRow[1]) ? messageRow[1] : {});
};

/** Error of a prompt: `interrupted`, or a node's message. Undefined if the prompt succeeded. */
export const errorIn = (entry: unknown): string | undefined => {
  const messages = pointer(entry, "/status/messages");
  const list = Array.isArray(messages) ? (messages as unknown[]) : [];
  if (messageOf(list, "execution_interrupted")) return "interrupted";
  const failed = messageOf(list, "execution_error");
  if (!failed && pointer(entry, "/status/status_str") !== "error") return undefined;
  const { node_type: node, exception_message: exceptionText } = failed ?? {};
  const words = typeof exceptionText === "string" && exceptionText !== "" ? exceptionText.trim() : "the workflow failed";
  return typeof node === "string" ? `${node}: ${words}` : words;
};
