import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { CircleStop, Play } from "lucide-react";
import { api, messageOf } from "../api/client";
import { afterRun, executionQuery } from "../api/queries";
import { Button } from "../ui/button";
import { credits, duration } from "../ui/format";
import { complain } from "../ui/overlays/toast";
import { refusalOf, startRun, useQuote, type RunTarget } from "./request";
import { priceOf, RunPrice, useLimit } from "./run-price";
import { ResultView } from "./result-view";
import { RunStatus } from "./status";
import { Affordable } from "./affordable";
import { TroubleNotice } from "./trouble/trouble-notice";
import { causeOf } from "./trouble/cause";
import { runTrouble } from "./trouble/trouble";
import { COMMON } from "../messages/common";
import { TRY_IT } from "../messages/runs";

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
            {COMMON.cancel}
          </Button>
        )}
        <a href={`/executions/${executionId}`} className="ml-auto text-accent-text underline underline-offset-2">
          {TRY_IT.details}
        </a>
      </div>
      {execution?.error && <TroubleNotice trouble={runTrouble({ ...execution.error, message: causeOf(execution) ?? "" })} />}
      {execution?.result && <ResultView result={execution.result} />}
    </div>
  );
};

interface TryItProps {
  target: RunTarget;
  inputs: Record<string, unknown>;
  mayRun: boolean;
  /** True until the form is filled in, while its missing inputs aren't mistakes yet. */
  isUntouched?: boolean;
}

/** A Run button with its price and result. */
export const TryIt = ({ target, inputs, mayRun, isUntouched = false }: TryItProps) => {
  const client = useQueryClient();
  const { quote, problem } = useQuote(target, inputs, mayRun && !isUntouched);
  const [limit, price] = [useLimit(quote), priceOf(quote)];
  const start = useMutation({
    mutationFn: () => startRun(target, inputs, limit.limit),
    onSettled: () => afterRun(client),
  });
  const failure = start.error === null ? undefined : refusalOf(start.error);
  return (
    <div className="flex flex-col gap-4">
      <div>
        <Button variant="primary" icon={Play} busy={start.isPending} disabled={!mayRun} onClick={() => start.mutate()}>
          {price === undefined ? TRY_IT.run : TRY_IT.runForPrice(price)}
        </Button>
      </div>
      <RunPrice quote={quote} limit={limit} />
      {failure ? <TroubleNotice trouble={failure.trouble} /> : problem !== undefined && <TroubleNotice kind="warn" trouble={problem} />}
      <Affordable quote={quote} />
      {start.data !== undefined && <Outcome key={start.data} executionId={start.data} />}
    </div>
  );
};
