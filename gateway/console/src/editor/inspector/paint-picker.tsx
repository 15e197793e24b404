import type { DocNode } from "../../document/graph";
import { PAINTS, paintOf } from "../board/node/paints";
import { paint } from "../commands/node-actions";
import { useEditor } from "../context";
import { PAINT_PICKER } from "../../messages/editor/inspector";

export const PaintPicker = ({ node }: { node: DocNode }) => {
  const editor = useEditor();
  const chosenPaint = paintOf(node);
  return (
    <div role="group" aria-label={PAINT_PICKER.colour}>
      <div className="mb-1.5 text-[13px] font-medium">{PAINT_PICKER.colour}</div>
      <div className="flex flex-wrap gap-1.5">
        {[undefined, ...PAINTS].map((colour) => (
          <button
            key={colour ?? "usual"}
            type="button"
            disabled={!editor.canEdit}
            aria-label={colour ?? PAINT_PICKER.default}
            aria-pressed={chosenPaint === colour}
            data-paint={colour}
            className="paint size-7 rounded-full border-2 border-line-strong/50 aria-pressed:border-text"
            onClick={() => paint(editor, [node], colour)}
          />
        ))}
      </div>
    </div>
  );
};
