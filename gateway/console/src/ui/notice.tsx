import { CircleAlert, CircleCheck, Info, TriangleAlert, type LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { classes } from "./classes";
import { NOTICE } from "../messages/notices";

const KINDS: Readonly<Record<"info" | "ok" | "warn" | "bad", readonly [string, LucideIcon]>> = {
  info: ["bg-accent-soft text-accent-text", Info],
  ok: ["bg-ok-soft text-ok", CircleCheck],
  warn: ["bg-warn-soft text-warn", TriangleAlert],
  bad: ["bg-bad-soft text-bad", CircleAlert],
};

export interface NoticeProps {
  kind?: keyof typeof KINDS;
  title?: ReactNode;
  children?: ReactNode;
  actions?: ReactNode;
  className?: string;
}

export const Notice = ({ kind = "info", title, children, actions, className }: NoticeProps) => {
  const [colours, Icon] = KINDS[kind];
  return (
    <div role={kind === "bad" ? "alert" : undefined} className={classes("flex gap-2.5 rounded-xl px-3.5 py-3 text-sm", colours, className)}>
      <Icon className="mt-0.5 size-4 shrink-0" aria-hidden />
      <div className="min-w-0 flex-1 wrap-anywhere">
        {title !== undefined && <div className="font-semibold">{title}</div>}
        {children !== undefined && <div className={title === undefined ? "" : "mt-0.5 opacity-95"}>{children}</div>}
        {actions !== undefined && <div className="mt-2.5 flex flex-wrap gap-2">{actions}</div>}
      </div>
    </div>
  );
};

/** Replaces an empty list. */
export const Empty = ({
  icon: Icon,
  title,
  children,
  actions,
  isPage = false,
}: {
  icon: LucideIcon;
  title: string;
  /** True if it fills a page and its title is the page's heading. */
  isPage?: boolean;
  children?: ReactNode;
  actions?: ReactNode;
}) => {
  const Heading = isPage ? "h1" : "h2";
  return (
    <div className="flex flex-col items-center rounded-2xl border border-dashed border-line-strong/50 px-6 py-12 text-center">
      <span className="mb-3 flex size-11 items-center justify-center rounded-full bg-sunken text-muted">
        <Icon className="size-5" aria-hidden />
      </span>
      <Heading className="text-base font-semibold">{title}</Heading>
      {children !== undefined && <div className="mt-1 max-w-md text-sm text-muted">{children}</div>}
      {actions !== undefined && <div className="mt-4 flex flex-wrap justify-center gap-2">{actions}</div>}
    </div>
  );
};

/** Placeholder for loading text. */
export const Skeleton = ({ lines = 3, className }: { lines?: number; className?: string }) => (
  <div role="status" aria-label={NOTICE.loading} className={classes("flex flex-col gap-3", className)}>
    {Array.from({ length: lines }, (_, index) => (
      <div key={index} className={classes("h-4 animate-pulse rounded bg-sunken", index % 3 === 2 ? "w-2/3" : "w-full")} />
    ))}
  </div>
);
