import { useState } from "react";
import { createWorkflow } from "../../api/workflow-remote";
import { frameOf } from "../../canvas/frames";
import { Notice } from "../../ui/notice";
import { PromptDialog } from "../../parts/form";
import { say } from "../../ui/overlays/toast";
import { graphOf, selectedNodes } from "../chosen";
import { withFrameContents } from "../commands/frame-actions";
import { useEditor, type Editor } from "../context";
import { nodeTitle } from "../titles";
import { extract } from "./extract";
import { COMMON } from "../../messages/common";
import { SUBGRAPH_DIALOG } from "../../messages/editor/subgraph";

/** Maximum characters of a label. */
const MAX_LABEL = 80;

/** The result of extracting the selection, including nodes on selected frames. */
const extraction = (editor: Editor) =>
  extract(graphOf(editor), withFrameContents(editor, selectedNodes(editor)), editor.scene.store.getState().ports);

/** Suggested name: a frame's title, or the workflow's name. */
const nameFor = (editor: Editor): string => {
  const frame = selectedNodes(editor).find(frameOf);
  return frame ? nodeTitle(frame) : SUBGRAPH_DIALOG.partOf(editor.document.store.getState().meta.name);
};

/** Creates the new workflow and replaces the nodes by it. @throws Error if it couldn't be created */
const takeOut = async (editor: Editor, name: string): Promise<void> => {
  const extracted = extraction(editor);
  if ("problem" in extracted) throw new Error(extracted.problem);
  const { folderId } = editor.document.store.getState().meta;
  const members = { name: JSON.stringify(name), folderId: JSON.stringify(folderId), ...extracted.inner };
  const slug = await createWorkflow(new Map(Object.entries(members)));
  // Computed again, so that changes that others saved meanwhile are kept.
  const now = extraction(editor);
  if ("problem" in now) throw new Error(now.problem);
  const { graph, id } = now.outer(slug, name.slice(0, MAX_LABEL));
  editor.document.change(SUBGRAPH_DIALOG.convertToWorkflow, () => graph, { select: [id] });
  editor.ui.setState({ panel: "node" });
};

export const SubgraphDialog = ({ onClose }: { onClose: () => void }) => {
  const editor = useEditor();
  const [problem] = useState(() => {
    const extracted = extraction(editor);
    return "problem" in extracted ? extracted.problem : undefined;
  });
  const submit = async (name: string): Promise<void> => {
    await takeOut(editor, name);
    say(SUBGRAPH_DIALOG.converted(name));
  };
  return (
    <PromptDialog
      title={SUBGRAPH_DIALOG.convertToWorkflow}
      label={COMMON.name}
      initial={nameFor(editor)}
      action={SUBGRAPH_DIALOG.convert}
      disabled={problem !== undefined}
      reads={["workflows"]}
      submit={submit}
      onClose={onClose}
    >
      {problem !== undefined && <Notice kind="bad">{problem}</Notice>}
      <p className="text-sm text-muted">{SUBGRAPH_DIALOG.intro}</p>
    </PromptDialog>
  );
};
