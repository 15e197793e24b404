import type { Execution, NodeloomError } from "@nodeloom/client";
import { Result } from "./result";
import type { RunState } from "./use-run";
import { PROGRESS } from "../messages/visitor";

const PER_CENT = 100;

/** Progress of a run: completed steps of all steps. */
const Progress = ({ execution }: { execution: Execution | undefined }) => {
  const nodes = execution?.nodes ?? [];
  const doneCount = nodes.filter(({ status }) => status !== "pending" && status !== "processing").length;
  const words = execution?.queued
    ? PROGRESS.queued(execution.position)
    : nodes.some(({ type, status }) => type === "approval" && status === "processing")
      ? PROGRESS.waiting
      : PROGRESS.running;
  return (
    <div>
      <p className="mb-2 text-sm">{words}</p>
      <progress
        aria-label={PROGRESS.finishedSteps}
        className="h-2 w-full accent-accent"
        max={PER_CENT}
        {...(nodes.length === 0 ? {} : { value: Math.round((doneCount / nodes.length) * PER_CENT) })}
      />
    </div>
  );
};

const REFUSALS: Readonly<Record<string, string>> = {
  BUDGET_EXCEEDED: PROGRESS.appSpent,
  RATE_LIMIT_EXCEEDED: PROGRESS.visitorSpent,
  INSUFFICIENT_CREDITS: PROGRESS.ownerSpent,
  CONCURRENCY_LIMIT_EXCEEDED: PROGRESS.busy,
  NOT_FOUND: PROGRESS.gone,
};

export const refusalWords = ({ status, code = "", message }: Pick<NodeloomError, "status" | "code" | "message">): string =>
  status === 0 ? PROGRESS.offline : (REFUSALS[code] ?? message);

const Bad = ({ children }: { children: string }) => (
  <p role="alert" className="rounded-xl bg-bad-soft px-3.5 py-3 text-sm text-bad wrap-anywhere">
    {children}
  </p>
);

export const RunOutcome = ({ execution }: { execution: Execution }) =>
  execution.status === "completed" ? (
    <Result result={execution.result ?? {}} />
  ) : (
    <Bad>{execution.error?.message ?? PROGRESS.runStatus(execution.status)}</Bad>
  );

/** State or result of the newest run. */
export const RunStateView = ({ state }: { state: RunState }) => (
  <div aria-live="polite" className="mt-6 empty:hidden">
    {state.is === "starting" && <Progress execution={undefined} />}
    {state.is === "running" && <Progress execution={state.execution} />}
    {state.is === "over" && <RunOutcome execution={state.execution} />}
    {state.is === "refused" && <Bad>{refusalWords(state.error)}</Bad>}
  </div>
);
