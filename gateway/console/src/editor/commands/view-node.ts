import { complain } from "../../ui/overlays/toast";
import type { Editor } from "../context";

/** Views a node's outputs; the code is loaded on first use. */
export const viewNode = (editor: Editor, nodeId: string, index: number): void =>
  void import("./view-made").then(
    ({ viewMade }) => viewMade(editor, nodeId, index),
    () => complain("The viewer could not be loaded. Check the connection."),
  );
