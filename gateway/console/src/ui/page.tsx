import type { ReactNode } from "react";
import { classes } from "./classes";
import { useTitle } from "./use-title";

/** A page with title, actions and content. */
export const Page = ({
  title,
  lead,
  actions,
  children,
  narrow,
}: {
  title: string;
  lead?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
  narrow?: boolean;
}) => {
  useTitle(title);
  return (
    <div className={classes("mx-auto w-full px-4 py-6 sm:px-8 sm:py-8", narrow ? "max-w-3xl" : "max-w-6xl")}>
      <header className="mb-6 flex flex-wrap items-start justify-between gap-x-4 gap-y-3">
        <div className="min-w-0 flex-1 basis-60">
          <h1 className="text-xl font-semibold tracking-tight wrap-anywhere">{title}</h1>
          {lead !== undefined && <p className="mt-1 max-w-2xl text-sm text-pretty text-muted">{lead}</p>}
        </div>
        {actions !== undefined && <div className="flex flex-wrap items-center gap-2 empty:hidden">{actions}</div>}
      </header>
      {children}
    </div>
  );
};

export const Card = ({
  title,
  actions,
  children,
  className,
}: {
  title?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
  className?: string;
}) => (
  <section className={classes("min-w-0 rounded-2xl border bg-surface p-5", className)}>
    {(title !== undefined || actions !== undefined) && (
      <header className="mb-3 flex flex-wrap items-center justify-between gap-2">
        <h2 className="min-w-0 text-[15px] font-semibold wrap-anywhere">{title}</h2>
        {actions}
      </header>
    )}
    {children}
  </section>
);

export const Facts = ({ rows }: { rows: readonly (readonly [string, ReactNode])[] }) => (
  <dl className="grid grid-cols-[minmax(6rem,auto)_minmax(0,1fr)] gap-x-4 gap-y-1.5 text-sm">
    {rows.map(([name, value]) => (
      <div key={name} className="contents">
        <dt className="text-muted">{name}</dt>
        <dd className="min-w-0 wrap-anywhere">{value}</dd>
      </div>
    ))}
  </dl>
);
