import { MOST_WORD_CHARACTERS, type Cue } from "@nodeloom/kernel/captions";
import { Trash2 } from "lucide-react";
import { CAPTIONS } from "../../../messages/editor/clip";
import { classes } from "../../../ui/classes";
import { Button } from "../../../ui/button";
import { AreaField } from "../../../ui/inputs/field";
import { NumberField } from "../../../ui/inputs/value-inputs";
import { shownPart } from "./cues";

interface CueListProps {
  cues: readonly Cue[];
  chosen: number;
  onChoose: (index: number) => void;
  onChange: (index: number, cue: Partial<Cue>) => void;
  onDelete: (index: number) => void;
}

const problemOf = ({ start, end }: Cue): string | undefined => (end <= start ? CAPTIONS.endBeforeStart : undefined);

const ChosenCue = ({ cue, onChange, onDelete }: { cue: Cue; onChange: (cue: Partial<Cue>) => void; onDelete: () => void }) => (
  <div className="flex flex-col gap-2 p-2">
    <AreaField
      label={CAPTIONS.text}
      rows={2}
      maxLength={MOST_WORD_CHARACTERS}
      value={cue.text}
      onText={(text) => onChange({ text })}
      onKeyDown={(event) => {
        // Enter is a new line, as in other texts; Ctrl+Enter saves.
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.currentTarget.closest("form")?.requestSubmit();
      }}
    />
    <div className="grid grid-cols-2 gap-2">
      <NumberField
        label={CAPTIONS.start}
        value={cue.start}
        onChange={(start) => start !== undefined && start >= 0 && onChange({ start })}
      />
      <NumberField
        label={CAPTIONS.end}
        value={cue.end}
        error={problemOf(cue)}
        onChange={(end) => end !== undefined && end >= 0 && onChange({ end })}
      />
    </div>
    <Button icon={Trash2} className="self-start" onClick={onDelete}>
      {CAPTIONS.remove}
    </Button>
  </div>
);

/** Captions in order of their list; the chosen one can be edited. */
export const CueList = ({ cues, chosen, onChoose, onChange, onDelete }: CueListProps) => {
  const { from, to } = shownPart(cues.length, chosen);
  return (
    <>
      <ol className="clip-cues" aria-label={CAPTIONS.list}>
        {cues.slice(from, to).map((cue, at) => {
          const index = from + at;
          const isChosen = index === chosen;
          return (
            <li key={index} className={classes(isChosen && "clip-cue-on")}>
              <button type="button" aria-expanded={isChosen} className="clip-cue-row" onClick={() => onChoose(isChosen ? -1 : index)}>
                <span className="text-xs text-muted tabular-nums">{CAPTIONS.times(cue.start, cue.end)}</span>
                <span className="truncate">{cue.text || CAPTIONS.noText}</span>
              </button>
              {isChosen && <ChosenCue cue={cue} onChange={(changes) => onChange(index, changes)} onDelete={() => onDelete(index)} />}
            </li>
          );
        })}
      </ol>
      {to - from < cues.length && <p className="text-xs text-muted">{CAPTIONS.shownOf(to - from, cues.length)}</p>}
    </>
  );
};
