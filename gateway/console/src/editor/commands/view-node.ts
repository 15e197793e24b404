import { complain } from "../../ui/overlays/toast";
import type { Editor } from "../context";

/** Views what a node made, large; the code for it is loaded when it is first asked for. */
export const viewNode = (editor: Editor, nodeId: string, index: number): void =>
  void import("./view-made").then(
    ({ viewMade }) => viewMade(editor, nodeId, index),
    () => complain("The viewer could not be loaded. Check the connection."),
  );
