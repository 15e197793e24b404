import { useRef, useState } from "react";
import type { FaceText } from "../../../canvas/face";
import { NODE } from "../../../canvas/geometry";
import type { DocNode } from "../../../document/graph";
import { classes } from "../../../ui/classes";
import { useEditor, useUi } from "../../context";
import { useSetting } from "../../inspector/use-setting";

interface NodeTextProps {
  node: DocNode;
  text: FaceText;
  top: number;
  height: number;
}

/** The field during editing. It stores its own text, because the canvas renders shortly after the document. */
const Field = ({ node, text, top, height }: NodeTextProps) => {
  const { ui } = useEditor();
  const { set } = useSetting(node);
  const [draft, setDraft] = useState(text.value);
  return (
    <textarea
      autoFocus
      dir="auto"
      aria-label={text.label}
      placeholder={text.placeholder}
      className="node-well node-well-open nodrag nopan nowheel"
      style={{ top, height }}
      value={draft}
      onFocus={({ currentTarget }) => currentTarget.setSelectionRange(draft.length, draft.length)}
      onChange={({ target: { value } }) => {
        setDraft(value);
        set(text.path, text.toSetting(value));
      }}
      onBlur={() => ui.setState(({ writing }) => (writing?.nodeId === node.id ? { writing: undefined } : {}))}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        event.currentTarget.blur();
      }}
    />
  );
};

/** Text on the node; clicking a selected node edits it. */
export const NodeText = (props: NodeTextProps) => {
  const { node, text, top, height } = props;
  const { ui, document, canEdit } = useEditor();
  const wasChosen = useRef(false);
  const locked = useUi((state) => state.locked) || !canEdit;
  const writing = useUi((state) => state.writing?.nodeId === node.id && state.writing.what === "text");
  if (writing && !locked) return <Field {...props} />;
  return (
    <div
      dir="auto"
      className={classes("node-well", !locked && "cursor-text", text.value === "" && "text-faint")}
      style={{ top, height }}
      // The first press selects the node, so the first click leaves the keyboard to the canvas.
      onPointerDown={() => {
        wasChosen.current = document.store.getState().selection.nodes.has(node.id);
      }}
      onClick={() => !locked && wasChosen.current && ui.setState({ writing: { nodeId: node.id, what: "text" } })}
    >
      {/* Whole lines, so that none is cut in half. */}
      <span className="node-well-text" style={{ WebkitLineClamp: Math.floor((height - NODE.textPadding) / NODE.textLine) }}>
        {text.value === "" ? text.placeholder : text.value}
      </span>
    </div>
  );
};
