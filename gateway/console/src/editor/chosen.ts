import { frameOf } from "../canvas/frames";
import { fullHeight } from "../canvas/geometry";
import type { Rect } from "../canvas/rects";
import { nodesOf, type DocGraph, type DocNode } from "../document/graph";
import type { Editor } from "./context";

export const graphOf = ({ document }: Editor): DocGraph => document.store.getState().graph;
export const selectedNodes = ({ document }: Editor): DocNode[] => {
  const { graph, selection } = document.store.getState();
  return nodesOf(graph).filter(({ id }) => selection.nodes.has(id));
};

/** Rectangles of all nodes, with frames at their open size. */
export const wholeRects = (editor: Editor): Map<string, Rect> => {
  const nodes = nodesOf(graphOf(editor));
  const rects = rectsOf(editor, nodes);
  for (const node of nodes) {
    const [frame, rect] = [frameOf(node), rects.get(node.id)!];
    if (frame) rects.set(node.id, { ...rect, ...frame });
  }
  return rects;
};

export const rectsOf = (editor: Editor, nodes: readonly DocNode[]): Map<string, Rect> => {
  const { boxes } = editor.scene.store.getState();
  return new Map(
    nodes.map(({ id, x, y }) => {
      const { width, height } = boxes.get(id) ?? { width: 248, height: 140 };
      return [id, { x, y, width, height }];
    }),
  );
};

/** Rectangles including future outputs, so that positions still fit after a run. */
export const roomsOf = (editor: Editor, nodes: readonly DocNode[]): Map<string, Rect> => {
  const { ports } = editor.scene.store.getState();
  const rooms = rectsOf(editor, nodes);
  for (const node of nodes) {
    const [own, rect] = [ports.get(node.id), rooms.get(node.id)!];
    if (own) rooms.set(node.id, { ...rect, height: Math.max(rect.height, fullHeight(node, own)) });
  }
  return rooms;
};
