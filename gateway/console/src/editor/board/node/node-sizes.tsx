import { NODE, WIDTHS } from "../../../canvas/geometry";
import type { DocNode } from "../../../document/graph";
import { NODE_MEDIA } from "../../../messages/editor/board";
import { resizeTo } from "../../commands/media-actions";
import { useEditor, useUi } from "../../context";

/** Buttons for the size of a node's outputs. */
export const NodeSizes = ({ node }: { node: DocNode }) => {
  const editor = useEditor();
  const locked = useUi((state) => state.locked) || !editor.canEdit;
  if (locked) return null;
  const width = node.view?.width ?? NODE.width;
  return (
    <span className="flex" role="group" aria-label={NODE_MEDIA.size}>
      {(["S", "M", "L"] as const).map((name) => (
        <button
          key={name}
          type="button"
          aria-pressed={width === WIDTHS[name]}
          aria-label={NODE_MEDIA.show({ S: "small", M: "medium", L: "large" }[name])}
          className="node-tool"
          onClick={() => resizeTo(editor, node, name)}
        >
          {name}
        </button>
      ))}
    </span>
  );
};
