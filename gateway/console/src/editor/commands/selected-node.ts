/** Commands for the selected node. */
import { isRemark, kindOf } from "../../canvas/kinds";
import { nodeById } from "../../document/graph";
import { COMMANDS_TEXTS } from "../../messages/editor/commands";
import { TOUCH } from "../../messages/editor/touch";
import { complain } from "../../ui/overlays/toast";
import { selectedNodes } from "../chosen";
import { innerSlug } from "../inspector/inner/ports";
import { touchedBy } from "../touch/touchable";
import type { Command } from "./command";
import { viewNode } from "./view-node";

/** Prepares a run up to the selected node. Its price is shown first. */
export const runToHere: Command["run"] = ({ document, ui }, stage) => {
  const { graph, selection } = document.store.getState();
  const [id, ...others] = [...selection.nodes];
  const node = id === undefined ? undefined : nodeById(graph, id);
  if (!node || others.length > 0) return complain(COMMANDS_TEXTS.selectNodeToRunTo);
  if (isRemark(node.type)) return complain(COMMANDS_TEXTS.notesDontRun);
  ui.setState({ until: node.id });
  stage.run();
};

/** Opens the viewer with the outputs of the selected node, or else of the first node with any. */
export const viewMade: Command["run"] = (editor) => {
  const { document, scene } = editor;
  const { nodeViews } = scene.store.getState();
  const [chosenId] = [...document.store.getState().selection.nodes];
  const hasCompleted = (id: string): boolean => nodeViews.get(id)?.items.some(({ status }) => status === "completed") === true;
  const nodeId = chosenId !== undefined && hasCompleted(chosenId) ? chosenId : [...nodeViews.keys()].find(hasCompleted);
  if (nodeId === undefined) return complain(COMMANDS_TEXTS.noResultsYet);
  viewNode(editor, nodeId, 0);
};

/** Opens the workflow of the selected workflow node. */
export const openInner: Command["run"] = (editor, stage) => {
  const [node, ...others] = selectedNodes(editor);
  const slug = node && others.length === 0 ? innerSlug(node) : undefined;
  if (slug === undefined) return complain(COMMANDS_TEXTS.selectOneWorkflowNode);
  stage.open(slug);
};

/** Compares several settings of the selected node. */
export const sweep: Command["run"] = (editor) => {
  const [node, ...others] = selectedNodes(editor);
  if (!node || others.length > 0 || isRemark(node.type)) return complain(COMMANDS_TEXTS.selectNodeToVary);
  editor.ui.setState({ overlay: "sweep" });
};

/** Compares another model with the one of the selected node. */
export const swap: Command["run"] = (editor) => {
  const [node, ...others] = selectedNodes(editor);
  if (!node || others.length > 0 || kindOf(node.type).modality === undefined) return complain(COMMANDS_TEXTS.selectModelNode);
  editor.ui.setState({ overlay: "swap", candidate: undefined });
};

/** Edits the selected node's settings on its picture or timeline. */
export const touch: Command["run"] = (editor) => {
  const [node, ...others] = selectedNodes(editor);
  if (!node || others.length > 0 || touchedBy(node) === undefined) return complain(TOUCH.nothingToTouch);
  editor.ui.setState({ overlay: "touch" });
};
