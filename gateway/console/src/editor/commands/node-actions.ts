import { isBypassed } from "@nodeloom/kernel/graph";
import { frameOf, onFrame } from "../../canvas/frames";
import { isRemark } from "../../canvas/kinds";
import { setData, setView } from "../../document/edit";
import type { DocGraph, DocNode, NodeView } from "../../document/graph";
import { complain } from "../../ui/overlays/toast";
import { selectedNodes, wholeRects } from "../chosen";
import type { Editor } from "../context";
import { NODE_ACTIONS } from "../../messages/editor/commands";

/** Changes of existing nodes: bypass, collapse, colour. */

const withoutFold = ({ collapsed: _, ...view }: NodeView): NodeView | undefined => (Object.keys(view).length > 0 ? view : undefined);

/** Ids of nodes that a frame hides when it collapses. */
const contentsOf = (editor: Editor, frame: DocNode): string[] => {
  const all = [...wholeRects(editor)].map(([id, rect]) => ({ id, ...rect }));
  const own = all.find(({ id }) => id === frame.id);
  return own ? onFrame(own, all) : [];
};

/** Collapses nodes and frames, or opens them if all are collapsed. */
export const collapse = (editor: Editor, nodes: readonly DocNode[] = selectedNodes(editor)): void => {
  const foldable = nodes.filter((node) => frameOf(node) !== undefined || !isRemark(node.type));
  if (foldable.length === 0) return complain(NODE_ACTIONS.selectNodesOrFrame);
  const isFolded = (node: DocNode): boolean => (frameOf(node) ? Array.isArray(node.data.collapsed) : node.view?.collapsed === true);
  const opens = foldable.every(isFolded);
  const change = (graph: DocGraph, node: DocNode): DocGraph => {
    if (frameOf(node)) return setData(graph, node.id, ["collapsed"], opens ? undefined : contentsOf(editor, node));
    return setView(graph, node.id, opens ? withoutFold(node.view ?? {}) : { ...node.view, collapsed: true });
  };
  editor.document.change(opens ? NODE_ACTIONS.expand : NODE_ACTIONS.collapse, (graph) => foldable.reduce(change, graph));
};

/** Bypasses the selected nodes. If all are bypassed, they run again. */
export const bypass = (editor: Editor): void => {
  const nodes = selectedNodes(editor).filter(({ type }) => !isRemark(type));
  if (nodes.length === 0) return complain(NODE_ACTIONS.selectNodesToBypass);
  const ends = nodes.every(isBypassed);
  editor.document.change(ends ? NODE_ACTIONS.restore : NODE_ACTIONS.bypass, (graph) =>
    nodes.reduce((now, { id }) => setData(now, id, ["bypass"], ends ? undefined : true), graph),
  );
};

/** Sets the colour of frames and notes; undefined resets it. */
export const paint = (editor: Editor, nodes: readonly DocNode[], colour: string | undefined): void =>
  editor.document.change(NODE_ACTIONS.colour, (graph) => nodes.reduce((now, { id }) => setData(now, id, ["color"], colour), graph));

export const rename = (editor: Editor): void => {
  const [node, ...others] = selectedNodes(editor);
  if (!node || others.length > 0) return complain(NODE_ACTIONS.selectNodeToRename);
  if (isRemark(node.type) && !frameOf(node)) return editor.ui.setState({ writing: { nodeId: node.id, what: "text" } });
  editor.ui.setState({ writing: { nodeId: node.id, what: "title" } });
};
