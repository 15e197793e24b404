import { ChevronLeft, ChevronRight, Repeat } from "lucide-react";
import { useRef, useState } from "react";
import { IconButton } from "../../ui/button";

/** Files don't say how many frames a second they have; most clips have 24 or more. */
const FRAME_S = 1 / 24;

/** A clip with steps of a frame, and in a loop. */
export const Clip = ({ url, label }: { url: string; label: string }) => {
  const video = useRef<HTMLVideoElement>(null);
  const [loop, setLoop] = useState(true);
  const stepBy = (by: 1 | -1): void => {
    const player = video.current;
    if (!player) return;
    player.pause();
    player.currentTime = Math.min(player.duration || 0, Math.max(0, player.currentTime + by * FRAME_S));
  };
  return (
    <div className="flex size-full flex-col items-center justify-center gap-2">
      <video
        ref={video}
        src={url}
        controls
        autoPlay
        muted
        loop={loop}
        playsInline
        aria-label={label}
        className="min-h-0 max-w-full flex-1 object-contain"
      />
      <div className="viewer-bar" role="toolbar" aria-label="Clip">
        <IconButton icon={ChevronLeft} size="sm" label="A frame back" onClick={() => stepBy(-1)} />
        <IconButton icon={ChevronRight} size="sm" label="A frame on" onClick={() => stepBy(1)} />
        <IconButton icon={Repeat} size="sm" label="Play in a loop" active={loop} onClick={() => setLoop(!loop)} />
      </div>
    </div>
  );
};
