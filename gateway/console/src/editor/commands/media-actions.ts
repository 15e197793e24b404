import { boundedView, NODE, WIDTHS } from "../../canvas/geometry";
import type { Rect } from "../../canvas/rects";
import { isRemark } from "../../canvas/kinds";
import { moveNodes, setView, type Point } from "../../document/edit";
import { nodesOf, type DocNode, type NodeView } from "../../document/graph";
import { graphOf, rectsOf } from "../chosen";
import type { Editor } from "../context";
import { MEDIA_ACTIONS } from "../../messages/editor/commands";

/** Moves nodes to the right of a growing node, or below it, by its growth. */
const roomMade = (editor: Editor, newRect: Rect, before: Rect, id: string): ReadonlyMap<string, Point> => {
  const moved = new Map<string, Point>();
  const [dx, dy] = [Math.max(0, newRect.width - before.width), Math.max(0, newRect.height - before.height)];
  const [right, bottom] = [before.x + before.width, before.y + before.height];
  const nodes = nodesOf(graphOf(editor)).filter((node) => node.id !== id && !isRemark(node.type));
  for (const [other, { x, y, width, height }] of rectsOf(editor, nodes)) {
    const isBeside = x >= right;
    const isUnder = y >= bottom && x < newRect.x + newRect.width && x + width > newRect.x;
    if (isBeside && dx > 0) moved.set(other, { x: x + dx, y });
    else if (isUnder && dy > 0 && height > 0) moved.set(other, { x, y: y + dy });
  }
  return moved;
};

const sizeOf = (editor: Editor, node: DocNode): Rect => rectsOf(editor, [node]).get(node.id)!;

/** Sets one of three media sizes and moves neighbours, as one undo step. */
export const resizeTo = (editor: Editor, node: DocNode, size: keyof typeof WIDTHS): void => {
  const width = WIDTHS[size];
  const { width: _width, media: _media, ...rest } = node.view ?? {};
  const sized: NodeView = size === "S" ? rest : { ...rest, width, media: Math.round(width * NODE.mediaShare) };
  const view = Object.keys(sized).length > 0 ? sized : undefined;
  const before = sizeOf(editor, node);
  const media = editor.scene.store.getState().boxes.get(node.id)?.floor?.height ?? 0;
  const newRect = { ...before, width, height: before.height - media + Math.round(width * NODE.mediaShare) };
  const moved = roomMade(editor, newRect, before, node.id);
  editor.document.change(MEDIA_ACTIONS.previewSize(size), (graph) => moveNodes(setView(graph, node.id, view), moved));
};

/** Saves a size chosen by dragging. */
export const resizeBy = (editor: Editor, node: DocNode, view: NodeView): void => {
  editor.scene.preview(node.id, undefined);
  editor.document.change(MEDIA_ACTIONS.resizeNode, (graph) => setView(graph, node.id, boundedView(view)));
};
