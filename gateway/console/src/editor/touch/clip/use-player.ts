import { useEffect, useRef, useState, type RefCallback } from "react";
import { clamped } from "../boxes";
import type { Range } from "./times";

export interface Player {
  /** Attributes of the element that plays. */
  attributes: {
    ref: RefCallback<HTMLMediaElement>;
    onPlay: () => void;
    onPause: () => void;
    onLoadedMetadata: () => void;
  };
  time: number;
  isPlaying: boolean;
  isLooped: boolean;
  setLooped: (isLooped: boolean) => void;
  /** Shows a time, without leaving the file. */
  seek: (time: number) => void;
  toggle: () => void;
}

/** Playback of a part of a file. @param range the part that is played @param whole length of the file */
export const usePlayer = (range: Range, whole: number): Player => {
  const media = useRef<HTMLMediaElement>(null);
  const [time, setTime] = useState(range.start);
  const [isPlaying, setPlaying] = useState(false);
  const [isLooped, setLooped] = useState(true);
  const seek = (to: number): void => {
    const next = clamped(to, 0, whole);
    if (media.current) media.current.currentTime = next;
    setTime(next);
  };
  const toggle = (): void => {
    const player = media.current;
    if (!player) return;
    if (!player.paused) return player.pause();
    if (player.currentTime < range.start || player.currentTime >= range.end) seek(range.start);
    void player.play().catch(() => undefined);
  };
  const { start, end } = range;
  useEffect(() => {
    const player = media.current;
    if (!isPlaying || !player) return;
    let frame = 0;
    const follow = (): void => {
      const isOver = player.currentTime >= end || player.ended;
      if (isOver && isLooped) {
        player.currentTime = start;
        if (player.paused) void player.play().catch(() => undefined);
      } else if (isOver) player.pause();
      setTime(isOver && isLooped ? start : Math.min(player.currentTime, whole));
      frame = requestAnimationFrame(follow);
    };
    frame = requestAnimationFrame(follow);
    return () => cancelAnimationFrame(frame);
  }, [isPlaying, isLooped, start, end, whole]);
  const attributes: Player["attributes"] = {
    ref: (element) => {
      media.current = element;
    },
    onPlay: () => setPlaying(true),
    onPause: () => setPlaying(false),
    onLoadedMetadata: () => seek(time),
  };
  return { attributes, time, isPlaying, isLooped, setLooped, seek, toggle };
};
