import { AudioLines } from "lucide-react";
import { useEffect, useState } from "react";
import { thumbnailUrl } from "./thumbnail";

const MIN_HEIGHT = 0.04;

const peaksOf = (answer: unknown): number[] | undefined => {
  const { peaks } = (answer ?? {}) as { peaks?: unknown };
  return Array.isArray(peaks) && peaks.every((peak) => typeof peak === "number") ? peaks : undefined;
};

/** Waveform of a sound; an icon until it is known. */
export const Peaks = ({ url, label }: { url: string; label: string }) => {
  const [peaks, setPeaks] = useState<number[]>();
  useEffect(() => {
    const left = new AbortController();
    fetch(thumbnailUrl(url, 0), { signal: left.signal })
      .then(async (response) => (response.ok ? peaksOf(await response.json()) : undefined))
      .then(setPeaks, () => undefined);
    return () => left.abort();
  }, [url]);
  // Without a label the waveform is beside its name, so it is hidden from screen readers.
  const labelProps = label === "" ? ({ "aria-hidden": true } as const) : ({ role: "img", "aria-label": label } as const);
  if (peaks === undefined) return <AudioLines className="size-6" {...labelProps} />;
  const heights = peaks.map((peak) => Math.max(MIN_HEIGHT, Math.min(1, peak)));
  return (
    <svg viewBox={`0 0 ${heights.length} 1`} preserveAspectRatio="none" className="h-1/2 w-full px-1" {...labelProps}>
      <path
        d={heights.map((height, at) => `M${at + 0.5} ${(1 - height) / 2}v${height}`).join("")}
        stroke="currentColor"
        strokeWidth={0.6}
      />
    </svg>
  );
};
