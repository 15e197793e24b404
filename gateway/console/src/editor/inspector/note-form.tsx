import { frameOf, SMALLEST_FRAME } from "../../canvas/frames";
import type { DocNode } from "../../document/graph";
import { AreaField, InputField } from "../../ui/inputs/field";
import { NumberField } from "../../ui/inputs/value-inputs";
import { noteMember } from "../board/node/note-view";
import { PaintPicker } from "./paint-picker";
import { useSetting } from "./use-setting";
import { NOTE_FORM } from "../../messages/editor/inspector";

const text = (value: unknown): string => (typeof value === "string" ? value : "");

export const NoteForm = ({ node }: { node: DocNode }) => {
  const { set, disabled } = useSetting(node);
  const name = noteMember(node);
  const frame = frameOf(node);
  if (frame)
    return (
      <div className="flex flex-col gap-4">
        <InputField
          label={NOTE_FORM.title}
          hint={NOTE_FORM.frameHint}
          disabled={disabled}
          maxLength={200}
          value={text(node.data[name])}
          onText={(text) => set([name], text, NOTE_FORM.renameFrame)}
        />
        <PaintPicker node={node} />
        <div className="grid grid-cols-2 gap-3">
          {(["width", "height"] as const).map((side) => (
            <NumberField
              key={side}
              label={side === "width" ? NOTE_FORM.width : NOTE_FORM.height}
              disabled={disabled}
              value={frame[side]}
              onChange={(value) =>
                value !== undefined && value >= SMALLEST_FRAME[side] && set(["frame", side], value, NOTE_FORM.resizeFrame)
              }
            />
          ))}
        </div>
      </div>
    );
  return (
    <div className="flex flex-col gap-4">
      <AreaField
        label={NOTE_FORM.note}
        hint={NOTE_FORM.noteHint}
        rows={10}
        disabled={disabled}
        value={text(node.data[name])}
        onText={(text) => set([name], text)}
      />
      <PaintPicker node={node} />
    </div>
  );
};
