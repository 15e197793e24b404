import { basename, extname } from "node:path";
import type { Client } from "../client";
import { readEmbedded, readForeign } from "../comfyui";
import { readArgument } from "./arguments";
import { EXIT, Refusal } from "./outcome";
import type { Terminal } from "./terminal";

const PICTURES = [".png", ".webp"];

const readValue = async (file: string): Promise<unknown> => {
  const bytes = await readArgument(file);
  if (PICTURES.includes(extname(file).toLowerCase())) return readEmbedded(bytes);
  try {
    return JSON.parse(bytes.toString("utf8")) as unknown;
  } catch (error) {
    throw new Refusal(`${file} isn't JSON: ${(error as Error).message}`);
  }
};

/** Creates a workflow from each ComfyUI file. A note in the workflow lists the parts that weren't imported. */
export const importFiles = async (client: Client, files: readonly string[], terminal: Terminal): Promise<void> => {
  const models = await client.models.list();
  for (const file of files) {
    const foreign = readForeign(await readValue(file), models);
    if (!foreign) throw new Refusal(`${file} contains no ComfyUI workflow`);
    if (!foreign.graph) throw new Refusal(`${file}: ${foreign.words}`, EXIT.refused);
    const text = JSON.stringify({ name: basename(file, extname(file)), ...foreign.graph });
    const { body } = await client.requestText("createWorkflow", { text });
    terminal.note(`created ${(JSON.parse(body) as { slug: string }).slug}. ${foreign.words}`);
  }
};
