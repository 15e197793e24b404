import { useState } from "react";
import { noteText } from "../../../canvas/geometry";
import type { DocNode } from "../../../document/graph";
import { safeUrl } from "../../../media/url";
import { classes } from "../../../ui/classes";
import { Markdown } from "../../../ui/markdown";
import { useEditor, useUi } from "../../context";
import { useSetting } from "../../inspector/use-setting";
import { paintOf } from "./paints";
import { NOTE_VIEW } from "../../../messages/editor/board";

/** Member with a note's text, which differs between editors. */
export const noteMember = ({ data }: DocNode): string => ["text", "content", "note"].find((one) => typeof data[one] === "string") ?? "text";

const NoteField = ({ node }: { node: DocNode }) => {
  const { ui } = useEditor();
  const { set } = useSetting(node);
  const [draft, setDraft] = useState(noteText(node));
  return (
    <textarea
      autoFocus
      dir="auto"
      aria-label={NOTE_VIEW.note}
      className="nodrag nopan nowheel size-full resize-none bg-transparent outline-none"
      value={draft}
      onChange={({ target: { value } }) => {
        setDraft(value);
        set([noteMember(node)], value);
      }}
      onBlur={() => ui.setState({ writing: undefined })}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        event.currentTarget.blur();
      }}
    />
  );
};

/** A note; a double click edits it. */
export const NoteView = ({ node, selected }: { node: DocNode; selected: boolean }) => {
  const { ui, canEdit } = useEditor();
  const locked = useUi((state) => state.locked) || !canEdit;
  const writing = useUi((state) => state.writing?.nodeId === node.id);
  return (
    <div
      dir="auto"
      data-paint={paintOf(node)}
      className={classes("note size-full overflow-hidden whitespace-pre-wrap wrap-anywhere", selected && "node-selected")}
      onDoubleClick={() => !locked && ui.setState({ writing: { nodeId: node.id, what: "text" } })}
    >
      {writing && !locked ? <NoteField node={node} /> : <Markdown text={noteText(node) || NOTE_VIEW.emptyNote} safeUrl={safeUrl} />}
    </div>
  );
};
