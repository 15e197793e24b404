import { NodeloomError, type Quote } from "@nodeloom/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { CircleStop, Play } from "lucide-react";
import { useEffect, useState } from "react";
import { api, codeOf, messageOf, request } from "../api/client";
import { afterRun, executionQuery } from "../api/queries";
import { Button } from "../ui/button";
import { credits, duration } from "../ui/format";
import { Notice } from "../ui/notice";
import { complain } from "../ui/toast";
import { ResultView } from "./result-view";
import { RunStatus } from "./status";

export type TryTarget = { workflow: string } | { model: string };
const QUOTE_AFTER_MS = 500;
const PREFER = { prefer: "respond-async, wait=0" };

/** The price of a run with these inputs, a moment after they changed. */
export const useQuote = (
  target: TryTarget,
  inputs: Readonly<Record<string, unknown>>,
  enabled: boolean,
): { quote: Quote | undefined; problem: string | undefined } => {
  const [answer, setAnswer] = useState<{ quote: Quote | undefined; problem: string | undefined }>({ quote: undefined, problem: undefined });
  const key = JSON.stringify([target, inputs]);
  useEffect(() => {
    if (!enabled) return undefined;
    const abort = new AbortController();
    const [of, given] = JSON.parse(key) as [TryTarget, Record<string, unknown>];
    const timer = setTimeout(() => {
      api.quote(of, given, { signal: abort.signal }).then(
        (quote) => setAnswer({ quote, problem: undefined }),
        (error: unknown) => {
          if (!abort.signal.aborted) setAnswer({ quote: undefined, problem: messageOf(error) });
        },
      );
    }, QUOTE_AFTER_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [key, enabled]);
  return answer;
};

const start = async (target: TryTarget, inputs: Record<string, unknown>, most: number | null | undefined): Promise<string> => {
  const body = { inputs, ...(typeof most === "number" ? { maxCredits: most } : {}) };
  try {
    const { headers } =
      "workflow" in target
        ? await request("runWorkflow", { params: { slug: target.workflow }, body, headers: PREFER })
        : await request("runModel", { params: { internalName: target.model }, body, headers: PREFER });
    return headers.get("x-execution-id") ?? "";
  } catch (error) {
    // A run that failed at once is a run, too.
    if (error instanceof NodeloomError && error.executionId !== undefined) return error.executionId;
    throw error;
  }
};

const Outcome = ({ executionId }: { executionId: string }) => {
  const { data: execution } = useQuery(executionQuery(executionId));
  const over = execution !== undefined && ["completed", "failed", "cancelled"].includes(execution.status);
  return (
    <div className="flex flex-col gap-3 border-t pt-4" aria-live="polite">
      <div className="flex items-center gap-2 text-xs text-muted tabular-nums">
        <RunStatus status={execution?.status ?? "processing"} />
        {over && `${duration(execution.durationMs)} · ${credits(execution.creditsCost)}`}
        {!over && (
          <Button
            size="sm"
            icon={CircleStop}
            onClick={() => void api.cancel(executionId).catch((error: unknown) => complain(messageOf(error)))}
          >
            Cancel
          </Button>
        )}
        <a href={`/executions/${executionId}`} className="ml-auto text-accent-text underline underline-offset-2">
          Details
        </a>
      </div>
      {execution?.error && (
        <Notice kind="bad" title={execution.error.code}>
          {execution.error.message}
        </Notice>
      )}
      {execution?.result && <ResultView result={execution.result} />}
    </div>
  );
};

/** A Run button with its price, and what comes of it. */
export const TryIt = ({ target, inputs, mayRun }: { target: TryTarget; inputs: Record<string, unknown>; mayRun: boolean }) => {
  const client = useQueryClient();
  const { quote, problem } = useQuote(target, inputs, mayRun);
  const [busy, setBusy] = useState(false);
  const [executionId, setExecutionId] = useState<string>();
  const [failure, setFailure] = useState<{ message: string; code: string | undefined }>();
  const run = async (): Promise<void> => {
    setBusy(true);
    setFailure(undefined);
    try {
      setExecutionId(await start(target, inputs, quote?.estimatedCreditCost));
    } catch (error) {
      setFailure({ message: messageOf(error), code: codeOf(error) });
    } finally {
      setBusy(false);
      afterRun(client);
    }
  };
  return (
    <div className="flex flex-col gap-4">
      <div>
        <Button variant="primary" icon={Play} busy={busy} disabled={!mayRun} onClick={() => void run()}>
          {quote?.estimatedCreditCost ? `Run · ${credits(quote.estimatedCreditCost)}` : "Run"}
        </Button>
        {quote && quote.estimatedCreditCost === 0 && quote.nodes.some(({ grant }) => grant) && (
          <span className="ml-3 text-xs text-muted">A trial run pays for this.</span>
        )}
      </div>
      {failure ? (
        <Notice kind="bad" title={failure.code ?? "Not run"}>
          {failure.message}
        </Notice>
      ) : (
        problem !== undefined && <Notice kind="warn">{problem}</Notice>
      )}
      {executionId !== undefined && <Outcome key={executionId} executionId={executionId} />}
    </div>
  );
};
