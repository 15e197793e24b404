import { around } from "../../canvas/geometry";
import { parsedJson, readPart } from "../../document/clipboard";
import type { Point } from "../../document/edit";
import { complain, say } from "../../ui/overlays/toast";
import type { Editor } from "../context";
import { insertPart, NEW_SIZE, some } from "./actions";
import { defaultModel } from "./new-nodes";

/** Puts nodes of a clipboard's text where the middle of the board is; a graph of another editor as far as it can stand here. @returns whether it did */
export const pasteText = async (editor: Editor, text: string, middle: Point): Promise<boolean> => {
  const value = parsedJson(text);
  // Few who open a canvas paste anything.
  const foreign =
    value === undefined ? undefined : (await import("../../canvas/foreign/foreign")).readForeign(value, defaultModel(editor, "image"));
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
  insertPart(editor, part, offset, `Paste ${some(part.nodes.length, "node")}`);
  return true;
};
