import type { ReactNode } from "react";
import { classes } from "./classes";

const TONES = {
  neutral: "bg-sunken text-muted",
  accent: "bg-accent-soft text-accent-text",
  ok: "bg-ok-soft text-ok",
  warn: "bg-warn-soft text-warn",
  bad: "bg-bad-soft text-bad",
} as const;
export type Tone = keyof typeof TONES;

export const Badge = ({ tone = "neutral", children, className }: { tone?: Tone; children: ReactNode; className?: string }) => (
  <span
    className={classes(
      "inline-flex max-w-full items-center gap-1 rounded-full px-2 py-0.5 text-xs font-medium whitespace-nowrap",
      TONES[tone],
      className,
    )}
  >
    <span className="truncate">{children}</span>
  </span>
);
