import { Pause, Play, Repeat } from "lucide-react";
import type { PointerEvent, ReactNode } from "react";
import { CLIP } from "../../../messages/editor/clip";
import { IconButton } from "../../../ui/button";
import type { DragState } from "../handle-box";
import type { Picture } from "../picture";
import { Stage } from "../stage";
import { Slider } from "./slider";
import { FrameStrip, WaveStrip } from "./strip";
import { rounded } from "./times";
import type { Player } from "./use-player";

/** A playhead needs no file of its own, so a drag of it has nothing to take back. */
const NOTHING = (): void => undefined;

/** Share of a timeline, as a length of CSS. */
export const share = (time: number, whole: number): string => `${(100 * time) / whole}%`;

interface SurfaceProps {
  clip: Picture;
  whole: number;
  player: Player;
  drag: DragState;
  /** Drawn over the video. */
  over?: ReactNode;
  /** Drawn on the timeline. */
  marks: ReactNode;
  /** Rows of the timeline under the strip. */
  rows?: ReactNode;
}

/** A video or sound with its timeline. */
export const ClipSurface = ({ clip, whole, player, drag, over, marks, rows }: SurfaceProps) => {
  const { attributes, time, isPlaying, isLooped, setLooped, seek, toggle } = player;
  const isVideo = clip.width > 0;
  const jump = (event: PointerEvent<HTMLElement>): void => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    if (event.button === 0) seek(((event.clientX - left) / width) * whole);
  };
  return (
    <div className="flex min-w-0 flex-col gap-3">
      {isVideo ? (
        <Stage size={clip} label={CLIP.video} className="clip-stage">
          {() => (
            <>
              <video {...attributes} src={clip.url} aria-label={CLIP.video} playsInline preload="auto" className="size-full" />
              {over}
            </>
          )}
        </Stage>
      ) : (
        <audio {...attributes} src={clip.url} aria-label={CLIP.sound} preload="auto" />
      )}
      <div className="flex items-center gap-2">
        <IconButton icon={isPlaying ? Pause : Play} label={isPlaying ? CLIP.pause : CLIP.play} className="size-11" onClick={toggle} />
        <IconButton icon={Repeat} label={CLIP.loop} active={isLooped} className="size-11" onClick={() => setLooped(!isLooped)} />
        <output className="text-sm tabular-nums" data-testid="clip-time">
          {CLIP.timeOf(time, whole)}
        </output>
      </div>
      <div className="clip-timeline">
        <div data-track className="relative">
          <div className="clip-frames" onPointerDown={jump} data-testid="clip-track">
            {isVideo ? <FrameStrip clip={clip} /> : <WaveStrip url={clip.url} />}
          </div>
          {rows}
          {marks}
          <div className="clip-playhead" style={{ left: share(time, whole) }} aria-hidden />
          <Slider
            label={CLIP.playhead}
            className="clip-playhead-grip"
            at={rounded(time)}
            least={0}
            most={whole}
            whole={whole}
            drag={drag}
            onMove={seek}
            onRestore={NOTHING}
            onToggle={toggle}
            style={{ left: share(time, whole) }}
          />
        </div>
      </div>
    </div>
  );
};
