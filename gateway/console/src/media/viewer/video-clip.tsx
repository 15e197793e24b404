import { useRef, useState, type ReactNode } from "react";
import { thumbnailUrl } from "../thumbnail";
import { POSTER_PX, Video } from "../video";

/** Files don't state their frame rate; most clips have 24 or more frames per second. */
const FRAME_S = 1 / 24;

/** Controls of a video in the viewer. */
export interface ClipTools {
  loop: boolean;
  setLoop: (loop: boolean) => void;
  /** One frame forward or back. */
  stepBy: (by: 1 | -1) => void;
}

/** A looped video with frame steps. @param tools controls drawn below it */
export const VideoClip = ({ url, label, tools }: { url: string; label: string; tools: (clip: ClipTools) => ReactNode }) => {
  const video = useRef<HTMLVideoElement>(null);
  const [loop, setLoop] = useState(true);
  const stepBy = (by: 1 | -1): void => {
    const player = video.current;
    if (!player) return;
    player.pause();
    player.currentTime = Math.min(player.duration || 0, Math.max(0, player.currentTime + by * FRAME_S));
  };
  // A new signature of the address would start the video again.
  const [src] = useState(url);
  return (
    <div className="flex size-full flex-col items-center justify-center gap-2">
      <Video
        way="moving"
        ref={video}
        url={src}
        label={label}
        poster={thumbnailUrl(src, POSTER_PX)}
        controls
        loop={loop}
        className="min-h-0 max-w-full flex-1 object-contain"
      />
      {tools({ loop, setLoop, stepBy })}
    </div>
  );
};
