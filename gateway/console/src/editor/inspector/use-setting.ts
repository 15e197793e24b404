import { renameField, setData } from "../../document/edit";
import type { DocNode } from "../../document/graph";
import { useDocument, useEditor, type Editor } from "../context";
import { edgesOf, nodeById } from "../../document/graph";
import { nodeTitle } from "../titles";
import { USE_SETTING } from "../../messages/editor/setting";

/** Sets a setting; typing in one field is one undo step. */
export const useSetting = (node: DocNode) => {
  const { document, canEdit, ui } = useEditor();
  return {
    disabled: !canEdit,
    set: (path: readonly string[], value: unknown, label = USE_SETTING.edit(nodeTitle(node))): void => {
      document.change(label, (graph) => setData(graph, node.id, path, value), { key: `${node.id} ${path.join(".")}` });
      touch(ui, node.id);
    },
    /** Renames a declared input; its links stay. */
    rename: (index: number, fields: readonly { name?: unknown }[], to: string): void =>
      document.change(USE_SETTING.editInputs, (graph) => renameField(graph, node.id, index, fields, to), { key: `${node.id} fields` }),
  };
};

/** Shows problems of the node from now on. */
const touch = (ui: Editor["ui"], nodeId: string): void => {
  const { fresh } = ui.getState();
  if (fresh.has(nodeId)) ui.setState({ fresh: new Set([...fresh].filter((id) => id !== nodeId)) });
};

/** Names of nodes linked to each port. */
export const useWired = (nodeId: string): ReadonlyMap<string, string> => {
  const graph = useDocument((state) => state.graph);
  const wired = new Map<string, string>();
  for (const { source, target, targetHandle } of edgesOf(graph)) {
    const from = target === nodeId && targetHandle !== null ? nodeById(graph, source) : undefined;
    if (from && targetHandle !== null) wired.set(targetHandle, [wired.get(targetHandle), nodeTitle(from)].filter(Boolean).join(", "));
  }
  return wired;
};

type ChooseFile = (onChoose: (id: string) => void) => void;

export const useLibraryChoice = (): ChooseFile => {
  const { ui } = useEditor();
  return (onChoose) => ui.setState({ library: true, choosing: ({ id }) => onChoose(id) });
};
