import { useState } from "react";
import type { DocGraph, DocNode } from "../../document/graph";
import { classes } from "../../ui/classes";
import { ResultView } from "../result-view";
import { hadSettings, tookOf, type Ran } from "./took";
import { TOOK_VIEW } from "../../messages/runs";

/** Groups values by name, because several links can lead to one name. */
const byPort = (took: ReturnType<typeof tookOf>): Record<string, unknown> => {
  const values = new Map<string, unknown[]>();
  for (const { port, value } of took) values.set(port, [...(values.get(port) ?? []), value]);
  return Object.fromEntries([...values].map(([port, all]) => [port, all.length === 1 ? all[0] : all]));
};

interface TookProps {
  graph: DocGraph;
  ran: Ran;
  node: DocNode;
}

const TookView = ({ graph, ran, node }: TookProps) => {
  const [took, settings] = [tookOf(graph, ran, node.id), hadSettings(node)];
  if (took.length + settings.length === 0) return <p className="text-xs text-muted">{TOOK_VIEW.noInputsOrSettings}</p>;
  return (
    <div className="flex min-w-0 flex-col gap-3">
      {took.length > 0 && (
        <div className="min-w-0">
          <p className="mb-1 text-xs text-muted">{TOOK_VIEW.from([...new Set(took.map(({ from }) => from))].join(", "))}</p>
          <ResultView result={byPort(took)} />
        </div>
      )}
      {settings.length > 0 && (
        <dl
          className="grid max-h-56 grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-1 overflow-y-auto rounded-xl bg-sunken p-3 text-xs"
          tabIndex={0}
        >
          {settings.map(([name, value]) => (
            <div key={name} className="contents">
              <dt className="text-muted">{name}</dt>
              <dd className="whitespace-pre-wrap wrap-anywhere">{value}</dd>
            </div>
          ))}
        </dl>
      )}
    </div>
  );
};

/** Inputs and settings of a run's node. The list starts collapsed, because it can be long. */
export const WhatItTook = ({ className, ...took }: TookProps & { className?: string }) => {
  const [open, setOpen] = useState(false);
  return (
    <details className={classes("text-[13px]", className)} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary className="text-muted">{TOOK_VIEW.inputsAndSettings}</summary>
      {open && (
        <div className="mt-2">
          <TookView {...took} />
        </div>
      )}
    </details>
  );
};
