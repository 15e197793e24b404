import { useEffect, useState } from "react";

/** Parts of a waveform. */
export const BARS = 220;
/** A low rate bounds the memory of a long sound. */
const SAMPLE_RATE = 16_000;

/** Peak of each part, from 0 to 1. */
export const peaksOf = (samples: Float32Array, parts = BARS): number[] => {
  const size = Math.max(1, Math.floor(samples.length / parts));
  const peaks = Array.from({ length: parts }, (_, part) => {
    let most = 0;
    for (let at = part * size; at < Math.min(samples.length, (part + 1) * size); at += 1) most = Math.max(most, Math.abs(samples[at]!));
    return most;
  });
  const loudest = Math.max(...peaks, 0.001);
  return peaks.map((peak) => peak / loudest);
};

/** Waveform of a sound, computed from its file. */
export const usePeaks = (url: string): readonly number[] | undefined => {
  const [peaks, setPeaks] = useState<readonly number[]>();
  useEffect(() => {
    const abort = new AbortController();
    const read = async (): Promise<void> => {
      const bytes = await (await fetch(url, { signal: abort.signal })).arrayBuffer();
      const context = new OfflineAudioContext(1, 1, SAMPLE_RATE);
      const sound = await context.decodeAudioData(bytes);
      if (!abort.signal.aborted) setPeaks(peaksOf(sound.getChannelData(0)));
    };
    setPeaks(undefined);
    // A sound without a waveform still plays.
    read().catch(() => undefined);
    return () => abort.abort();
  }, [url]);
  return peaks;
};
