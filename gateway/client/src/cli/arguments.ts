import { readFile } from "node:fs/promises";
import type { Target } from "../runs";
import { Refusal } from "./outcome";

/** Arguments and options that several commands have. */

const MODEL_PREFIX = "model:";

/** Bytes of a file. @param shownPath how an error names the file @throws Refusal */
export const readArgument = (path: string, shownPath: string = path): Promise<Buffer<ArrayBuffer>> =>
  readFile(path).catch((error: Error) => {
    throw new Refusal(`${shownPath} can't be read: ${error.message}`);
  });

/** The target with a name: `model:<name>`, or the slug of a workflow. @throws Refusal for options that models don't have */
export const targetOf = (name: string, options: Omit<Extract<Target, { workflow: string }>, "workflow">): Target => {
  if (!name.startsWith(MODEL_PREFIX)) return { workflow: name, ...options };
  const [option] = Object.entries(options).find(([, value]) => value !== undefined) ?? [];
  if (option !== undefined) throw new Refusal(`--${option} is for workflows`);
  return { model: name.slice(MODEL_PREFIX.length) };
};

/** The option `--metadata`. @throws Refusal */
export const metadataOf = (text: string): { name: string; value: string } => {
  const at = text.indexOf("=");
  if (at < 1) throw new Refusal("--metadata must be name=value, such as customer=acme");
  return { name: text.slice(0, at), value: text.slice(at + 1) };
};
