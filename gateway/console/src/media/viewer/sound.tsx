import { useRef, useState } from "react";
import { SOUND } from "../../messages/media";
import { BARS, usePeaks } from "../use-peaks";

/** Waveform player. Libraries for this add style elements, which the page's security policy blocks. */
const HEIGHT = 160;

export const Sound = ({ url, label }: { url: string; label: string }) => {
  const audio = useRef<HTMLAudioElement>(null);
  const peaks = usePeaks(url);
  const [played, setPlayed] = useState(0);
  return (
    <div className="flex w-full max-w-3xl flex-col gap-4 px-6">
      <svg
        viewBox={`0 0 ${BARS} ${HEIGHT}`}
        preserveAspectRatio="none"
        className="h-40 w-full cursor-pointer"
        role="img"
        aria-label={peaks ? SOUND.waveformOf(label) : SOUND.loadingWaveformOf(label)}
        onClick={(event) => {
          const { left, width } = event.currentTarget.getBoundingClientRect();
          const player = audio.current;
          if (!player || !Number.isFinite(player.duration)) return;
          player.currentTime = ((event.clientX - left) / width) * player.duration;
          void player.play().catch(() => undefined);
        }}
      >
        {(peaks ?? Array.from({ length: BARS }, () => 0.04)).map((peak, at) => (
          <rect
            key={at}
            x={at + 0.15}
            width={0.7}
            y={((1 - peak) * HEIGHT) / 2}
            height={Math.max(2, peak * HEIGHT)}
            fill={at / BARS < played ? "var(--port-audio)" : "rgb(255 255 255 / 38%)"}
          />
        ))}
      </svg>
      <audio
        ref={audio}
        src={url}
        controls
        aria-label={label}
        className="w-full"
        onTimeUpdate={({ currentTarget: { currentTime, duration } }) => setPlayed(duration > 0 ? currentTime / duration : 0)}
      />
    </div>
  );
};
