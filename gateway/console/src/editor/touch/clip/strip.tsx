import { useEffect, useRef, useState } from "react";
import { CLIP } from "../../../messages/editor/clip";
import { usePeaks } from "../../../media/use-peaks";
import type { Picture } from "../picture";

const HEIGHT = 64;
const MOST_FRAMES = 24;
const LEAST_FRAMES = 4;
const SEEK_MS = 10_000;

/** Resolves at an event; rejects after a deadline. */
const eventOf = (media: HTMLMediaElement, name: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(name)), SEEK_MS);
    media.addEventListener(
      name,
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });

/** Draws frames of a video side by side, each at the middle of its part. */
const drawFrames = async (canvas: HTMLCanvasElement, { url, width, height, seconds = 0 }: Picture, signal: AbortSignal): Promise<void> => {
  const frames = Math.max(LEAST_FRAMES, Math.min(MOST_FRAMES, Math.round((canvas.clientWidth * height) / (HEIGHT * width))));
  const across = Math.ceil(canvas.clientWidth / frames);
  canvas.width = across * frames;
  canvas.height = HEIGHT;
  const video = document.createElement("video");
  video.muted = true;
  video.preload = "auto";
  video.src = url;
  signal.addEventListener("abort", () => video.removeAttribute("src"));
  await eventOf(video, "loadeddata");
  const scale = Math.max(across / width, HEIGHT / height);
  const [partWidth, partHeight] = [across / scale, HEIGHT / scale];
  for (let frame = 0; frame < frames && !signal.aborted; frame += 1) {
    video.currentTime = ((frame + 0.5) / frames) * seconds;
    await eventOf(video, "seeked");
    const [left, top] = [(width - partWidth) / 2, (height - partHeight) / 2];
    canvas.getContext("2d")!.drawImage(video, left, top, partWidth, partHeight, frame * across, 0, across, HEIGHT);
    canvas.dataset.drawn = String(frame + 1);
  }
  video.removeAttribute("src");
};

/** Frames of a video along its time. */
export const FrameStrip = ({ clip }: { clip: Picture }) => {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [isFailed, setFailed] = useState(false);
  useEffect(() => {
    if (!canvas.current) return;
    const abort = new AbortController();
    // Without its frames the timeline still works.
    drawFrames(canvas.current, clip, abort.signal).catch(() => !abort.signal.aborted && setFailed(true));
    return () => abort.abort();
  }, [clip]);
  return (
    <>
      <canvas ref={canvas} className="clip-strip" data-testid="clip-frames" aria-hidden />
      {isFailed && <p className="sr-only">{CLIP.noFrames}</p>}
    </>
  );
};

/** Waveform of a sound along its time. */
export const WaveStrip = ({ url }: { url: string }) => {
  const peaks = usePeaks(url);
  return (
    <svg viewBox={`0 0 ${peaks?.length ?? 1} 1`} preserveAspectRatio="none" className="clip-strip" data-testid="clip-wave" aria-hidden>
      {peaks && <path d={peaks.map((peak, at) => `M${at + 0.5} ${(1 - Math.max(0.02, peak)) / 2}v${Math.max(0.02, peak)}`).join("")} />}
    </svg>
  );
};
