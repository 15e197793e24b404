import { FRAME_MARGIN, FRAME_TITLE, frameOf, frameSize, hiddenBy, onFrame } from "../../canvas/frames";
import { around } from "../../canvas/rects";
import { REMARK } from "../../canvas/kinds";
import { addNode, freeId } from "../../document/edit";
import { nodesOf, type DocNode } from "../../document/graph";
import { complain } from "../../ui/overlays/toast";
import { graphOf, rectsOf, selectedNodes } from "../chosen";
import type { Editor } from "../context";
import { FRAME_ACTIONS } from "../../messages/editor/commands";

/** Puts a frame around the selected nodes and lets the user type its name. */
export const frameSelection = (editor: Editor): void => {
  const frame = around([...rectsOf(editor, selectedNodes(editor)).values()]);
  if (!frame) return complain(FRAME_ACTIONS.selectNodes);
  const id = freeId(graphOf(editor), "frame");
  const size = frameSize({ width: frame.width + 2 * FRAME_MARGIN, height: frame.height + FRAME_TITLE + FRAME_MARGIN });
  const at = { x: frame.x - FRAME_MARGIN, y: frame.y - FRAME_TITLE };
  editor.document.change(
    FRAME_ACTIONS.addFrame,
    (graph) => addNode(graph, { id, type: REMARK.type, at, data: { text: FRAME_ACTIONS.frame, frame: size } }),
    {
      select: [id],
    },
  );
  editor.ui.setState({ panel: "node", writing: { nodeId: id, what: "title" } });
};

/** The nodes, with all nodes on frames among them. */
export const withFrameContents = (editor: Editor, nodes: readonly DocNode[]): DocNode[] => {
  const all = nodesOf(graphOf(editor));
  const rects = [...rectsOf(editor, all)].map(([id, rect]) => ({ id, ...rect }));
  const on = nodes.flatMap((node) =>
    frameOf(node)
      ? (hiddenBy(node) ??
        onFrame(
          rects.find(({ id }) => id === node.id)!,
          rects,
        ))
      : [],
  );
  const ids = new Set([...nodes.map(({ id }) => id), ...on]);
  return all.filter(({ id }) => ids.has(id));
};
