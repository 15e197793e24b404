import type { Cue } from "@nodeloom/kernel/captions";
import { Plus } from "lucide-react";
import { useState } from "react";
import { Notice } from "../../../ui/notice";
import { Button } from "../../../ui/button";
import { CAPTIONS, CLIP } from "../../../messages/editor/clip";
import { LETTERS } from "../../../messages/editor/touch";
import { ColourWell } from "../colour-well";
import { isSimple } from "../lettering";
import { textAt } from "../settings";
import type { ToolProps } from "../tool";
import { CaptionView } from "./caption-view";
import { ClipSurface, share } from "./clip-surface";
import { CueList } from "./cue-list";
import { cueChanges, cuesAt, cuesIn, isOwn, shownPart, withCue, withMoved, withNewCue, withoutCue } from "./cues";
import { Slider } from "./slider";
import { LEAST_SECONDS, rounded, type Hold } from "./times";
import { usePlayer } from "./use-player";

const LETTER_COLOUR = "#ffffff";
const HOLDS = ["move", "start", "end"] as const;

/** Writes captions on a video, with their times on its timeline. */
export const CaptionsTool = ({ picture, settings, change, control, restore, drag, layout }: ToolProps) => {
  const whole = picture.seconds ?? 0;
  const player = usePlayer({ start: 0, end: whole }, whole);
  const [chosen, setChosen] = useState(-1);
  const { cues, wrong } = cuesIn(settings, whole);
  const put = (next: readonly Cue[]): void => change(cueChanges(next));
  const addition = withNewCue(cues, player.time, whole, CAPTIONS.newText);
  const choose = (index: number): void => {
    setChosen(index);
    const cue = cues[index];
    if (cue && (player.time < cue.start || player.time >= cue.end)) player.seek(cue.start);
  };
  const move = (index: number, hold: Hold, to: number): void => {
    const next = withMoved(cues, index, hold, to, whole);
    put(next);
    player.seek(hold === "end" ? Math.max(0, next[index]!.end - LEAST_SECONDS) : next[index]!.start);
  };
  const grip = (cue: Cue, hold: Hold) => (
    <Slider
      key={hold}
      label={CAPTIONS.grip[hold]}
      className={hold === "move" ? "clip-cue-move" : `clip-grip clip-grip-${hold}`}
      style={{
        left: share(hold === "end" ? cue.end : cue.start, whole),
        ...(hold === "move" && { width: share(cue.end - cue.start, whole) }),
      }}
      at={hold === "end" ? cue.end : cue.start}
      least={hold === "end" ? cue.start : 0}
      most={hold === "end" ? whole : cue.end}
      whole={whole}
      drag={drag}
      onMove={(to) => move(chosen, hold, to)}
      onRestore={restore}
      onToggle={player.toggle}
    />
  );
  const chosenCue = cues[chosen];
  const { from, to } = shownPart(cues.length, chosen);
  const rows = (
    <div className="clip-lane">
      {cues.slice(from, to).map((cue, at) => (
        <button
          key={from + at}
          type="button"
          className="clip-cue"
          data-chosen={from + at === chosen || undefined}
          style={{ left: share(cue.start, whole), width: share(Math.max(0, cue.end - cue.start), whole) }}
          aria-label={CAPTIONS.choose(cue.text, cue.start)}
          onClick={() => choose(from + at)}
        >
          <span>{cue.text}</span>
        </button>
      ))}
      {chosenCue && HOLDS.map((hold) => grip(chosenCue, hold))}
    </div>
  );
  const isTrack = settings.mode === "track";
  const hasText = settings.words === undefined || settings.words === null;
  return layout(
    <ClipSurface
      clip={picture}
      whole={whole}
      player={player}
      drag={drag}
      over={<CaptionView cues={cuesAt(cues, player.time)} size={picture} settings={settings} />}
      marks={null}
      rows={rows}
    />,
    <>
      {wrong !== undefined && <Notice kind="warn">{CAPTIONS.wrong(wrong)}</Notice>}
      <Button
        icon={Plus}
        className="self-start"
        disabled={addition === undefined || wrong !== undefined}
        onClick={() => {
          if (!addition) return;
          put(addition.cues);
          setChosen(addition.index);
          player.seek(addition.cues[addition.index]!.start);
        }}
      >
        {CAPTIONS.add(rounded(player.time))}
      </Button>
      {!isOwn(settings) && cues.length > 0 && <p className="text-xs text-muted">{CAPTIONS.derived}</p>}
      {cues.length === 0 && wrong === undefined && <p className="text-sm text-muted">{CAPTIONS.none}</p>}
      <CueList
        cues={cues}
        chosen={chosen}
        onChoose={choose}
        onChange={(index, cue) => put(withCue(cues, index, cue))}
        onDelete={(index) => {
          put(withoutCue(cues, index));
          setChosen(-1);
        }}
      />
      {hasText && control("text")}
      {wrong !== undefined && control("words")}
      {isTrack && <Notice kind="info">{CAPTIONS.track}</Notice>}
      {!cues.every(({ text }) => isSimple(text)) && <Notice kind="info">{LETTERS.approximate}</Notice>}
      {control("position")}
      {control("size")}
      <ColourWell
        label={LETTERS.colour}
        value={textAt(settings, "colour") ?? LETTER_COLOUR}
        hasOpacity={false}
        onChange={(colour) => change({ colour })}
      />
      {control("maxCharacters")}
      {control("grouping")}
      {control("mode")}
      <p className="text-xs text-faint">{CLIP.keys}</p>
    </>,
  );
};
