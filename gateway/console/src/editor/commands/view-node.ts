import { complain } from "../../ui/overlays/toast";
import type { Editor } from "../context";
import { VIEW_NODE } from "../../messages/editor/commands";

/** Views a node's outputs; the code is loaded on first use. */
export const viewNode = (editor: Editor, nodeId: string, index: number): void =>
  void import("./view-made").then(
    ({ viewMade }) => viewMade(editor, nodeId, index),
    () => complain(VIEW_NODE.viewerFailed),
  );
