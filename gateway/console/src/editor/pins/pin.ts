import { setView } from "../../document/edit";
import type { NodeView } from "../../document/graph";
import { complain } from "../../ui/overlays/toast";
import { selectedNodes } from "../chosen";
import type { Editor } from "../context";
import { canBePinned, isPinned } from "./pins";
import { PIN } from "../../messages/editor/pins";

const withoutPin = ({ pinned: _, ...view }: NodeView): NodeView | undefined => (Object.keys(view).length > 0 ? view : undefined);

/** Pins the outputs of the selected nodes, or unpins them if all are pinned. */
export const pin = (editor: Editor): void => {
  const nodes = selectedNodes(editor).filter(canBePinned);
  if (nodes.length === 0) return complain(PIN.selectNodes);
  const ends = nodes.every(isPinned);
  editor.document.change(ends ? PIN.unpinResult : PIN.pinResult, (graph) =>
    nodes.reduce((now, node) => setView(now, node.id, ends ? withoutPin(node.view ?? {}) : { ...node.view, pinned: true }), graph),
  );
};
