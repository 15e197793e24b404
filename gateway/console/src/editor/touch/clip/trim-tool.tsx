import { Notice } from "../../../ui/notice";
import { CLIP, TRIM } from "../../../messages/editor/clip";
import type { ToolProps } from "../tool";
import { ClipSurface, share } from "./clip-surface";
import { Slider } from "./slider";
import { LEAST_SECONDS, moved, trimChanges, trimmingOf, type Edge } from "./times";
import { usePlayer } from "./use-player";

/** Before the end, so that the last frame that is kept is shown. */
const BEFORE_END = 0.001;

/** Trims a video or sound on its timeline. */
export const TrimTool = ({ picture, settings, change, control, restore, drag, layout }: ToolProps) => {
  const whole = picture.seconds ?? 0;
  const { problem, ...range } = trimmingOf(settings, whole);
  const player = usePlayer(range, whole);
  const move = (edge: Edge, to: number): void => {
    const next = moved(range, edge, to, { start: 0, end: whole });
    change(trimChanges(next, settings, whole));
    player.seek(edge === "start" ? next.start : next.end - BEFORE_END);
  };
  const grip = (edge: Edge) => (
    <Slider
      key={edge}
      label={TRIM[edge]}
      className={`clip-grip clip-grip-${edge}`}
      style={{ left: share(range[edge], whole) }}
      at={range[edge]}
      least={edge === "start" ? 0 : range.start + LEAST_SECONDS}
      most={edge === "start" ? range.end - LEAST_SECONDS : whole}
      whole={whole}
      drag={drag}
      onMove={(to) => move(edge, to)}
      onRestore={restore}
      onToggle={player.toggle}
    />
  );
  const marks = (
    <>
      <div className="clip-cut" style={{ left: 0, width: share(range.start, whole) }} aria-hidden />
      <div className="clip-cut" style={{ left: share(range.end, whole), right: 0 }} aria-hidden />
      <div className="clip-kept" style={{ left: share(range.start, whole), width: share(range.end - range.start, whole) }} aria-hidden />
      {grip("start")}
      {grip("end")}
    </>
  );
  return layout(
    <ClipSurface clip={picture} whole={whole} player={player} drag={drag} marks={marks} />,
    <>
      {problem !== undefined && <Notice kind="warn">{TRIM[problem](whole)}</Notice>}
      {control("start")}
      {control("end")}
      {control("seconds")}
      {control("fadeSeconds")}
      {control("format")}
      <p className="text-sm">
        <span className="text-muted">{TRIM.result}</span> <output data-testid="clip-range">{TRIM.range(range.start, range.end)}</output>
      </p>
      <p className="text-xs text-faint">{CLIP.keys}</p>
    </>,
  );
};
