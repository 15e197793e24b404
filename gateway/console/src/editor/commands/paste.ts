import { modelsInOrder } from "../../api/model-order";
import { around } from "../../canvas/rects";
import { parsedJson, readPart } from "../../document/clipboard";
import type { Point } from "../../document/edit";
import { complain, say } from "../../ui/overlays/toast";
import type { Editor } from "../context";
import { insertPart, NEW_SIZE, some } from "./actions";
import { PASTE } from "../../messages/editor/commands";

/**
 * Pastes nodes from a clipboard's text around a position, and converts graphs of other editors.
 * @returns true if the text contained nodes
 */
export const pasteText = async (editor: Editor, text: string, middle: Point): Promise<boolean> => {
  const value = parsedJson(text);
  // Loaded lazily, because pasting is rare.
  const foreign =
    value === undefined
      ? undefined
      : (await import("@nodeloom/client/comfyui")).readForeign(value, modelsInOrder(editor.models, editor.me.user));
  const refuse = (words: string): false => {
    complain(words);
    return false;
  };
  if (foreign && !foreign.graph) return refuse(foreign.words);
  const part = readPart(foreign ? JSON.stringify(foreign.graph) : text);
  if ("problem" in part) return refuse(part.problem);
  if (foreign) say(foreign.words);
  const frame = around(part.nodes.map(({ x, y }) => ({ x, y, ...NEW_SIZE })))!;
  const offset = { x: middle.x - frame.x - frame.width / 2, y: middle.y - frame.y - frame.height / 2 };
  insertPart(editor, part, offset, PASTE.paste(some(part.nodes.length, "node")));
  return true;
};

/** Workflow in a picture that ComfyUI saved, as JSON; undefined for all other files. */
export const embeddedWorkflow = async (file: File): Promise<string | undefined> => {
  if (!CARRIERS.includes(file.type) || file.size > MOST_BYTES) return undefined;
  const { readEmbedded } = await import("@nodeloom/client/comfyui");
  const value = await readEmbedded(new Uint8Array(await file.arrayBuffer()));
  return value === undefined ? undefined : JSON.stringify(value);
};
export const CARRIERS = ["image/png", "image/webp"];
const MOST_BYTES = 64_000_000;
