import { NodeloomError, type Quote } from "@nodeloom/client";
import { useEffect, useState } from "react";
import { isPassing, issuesOf, request } from "../api/client";
import { refusalTrouble, type Trouble } from "./trouble/trouble";

/** Quotes and starts runs, for the canvas and pages with a Run button. */
export type RunTarget = { workflow: string; version?: "draft"; until?: string | undefined } | { model: string };
export type RunInputs = Readonly<Record<string, unknown>>;

/** The service responds at once; events or polls follow. */
const PREFER = { prefer: "respond-async, wait=0" };
const EXECUTION_ID = "x-execution-id";
const QUOTE_AFTER_MS = 500;
const QUOTE_AGAIN_MS = 5_000;
const INPUTS = "inputs.";

const queryOf = ({ version }: { version?: "draft" }): { query?: { version: string } } =>
  version === undefined ? {} : { query: { version } };

/** Target node of a partial run. */
const untilOf = (target: RunTarget): { until?: string } => ("until" in target && target.until !== undefined ? { until: target.until } : {});

/** A request whose run may have started. A repetition with the same key can't start a second run. */
let unsettled: { body: string; key: string } | undefined;
const SERVER_ERROR = 500;
const isUnknown = (error: unknown): boolean => error instanceof NodeloomError && (error.status === 0 || error.status >= SERVER_ERROR);

/**
 * Starts a run, which can fail at once.
 * @param most credit limit; null or undefined for none
 * @returns the execution's id
 * @throws NodeloomError if no run was started
 */
export const startRun = async (target: RunTarget, inputs: RunInputs, most: number | null | undefined): Promise<string> => {
  const body = { inputs: { ...inputs }, ...untilOf(target), ...(typeof most === "number" ? { maxCredits: most } : {}) };
  const askedBody = JSON.stringify([target, body]);
  const idempotencyKey = unsettled?.body === askedBody ? unsettled.key : crypto.randomUUID();
  try {
    const { headers, body: answer } =
      "workflow" in target
        ? await request("runWorkflow", { params: { slug: target.workflow }, ...queryOf(target), body, headers: PREFER, idempotencyKey })
        : await request("runModel", { params: { internalName: target.model }, body, headers: PREFER, idempotencyKey });
    unsettled = undefined;
    return headers.get(EXECUTION_ID) ?? ("executionId" in answer ? answer.executionId : "");
  } catch (error) {
    if (error instanceof NodeloomError && error.executionId !== undefined) return error.executionId;
    unsettled = isUnknown(error) ? { body: askedBody, key: idempotencyKey } : undefined;
    throw error;
  }
};

const quoteOf = async (target: RunTarget, inputs: RunInputs, signal: AbortSignal): Promise<Quote> => {
  const body = { inputs: { ...inputs }, ...untilOf(target) };
  const answer =
    "workflow" in target
      ? await request("quoteWorkflow", { params: { slug: target.workflow }, ...queryOf(target), body, signal })
      : await request("quoteModel", { params: { internalName: target.model }, body, signal });
  return answer.body;
};

export interface QuoteAnswer {
  quote: Quote | undefined;
  problem: Trouble | undefined;
  /** False while the quote is of earlier inputs or of an earlier revision. */
  isCurrent: boolean;
}

/** Price of a run, requested shortly after inputs or the saved graph change. @param revision a change requests a new quote */
export const useQuote = (target: RunTarget, inputs: RunInputs, enabled: boolean, revision = ""): QuoteAnswer => {
  const [answer, setAnswer] = useState<Omit<QuoteAnswer, "isCurrent"> & { of?: string }>({ quote: undefined, problem: undefined });
  const key = JSON.stringify([target, inputs]);
  const subject = `${revision} ${key}`;
  useEffect(() => {
    if (!enabled) return undefined;
    const abort = new AbortController();
    const [of, runInputs] = JSON.parse(key) as [RunTarget, RunInputs];
    const ask = (): void =>
      void quoteOf(of, runInputs, abort.signal).then(
        (quote) => setAnswer({ quote, problem: undefined, of: subject }),
        (error: unknown) => {
          if (abort.signal.aborted) return;
          setAnswer({ quote: undefined, problem: refusalTrouble(error), of: subject });
          if (isPassing(error)) timer = setTimeout(ask, QUOTE_AGAIN_MS);
        },
      );
    let timer = setTimeout(ask, QUOTE_AFTER_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [key, enabled, subject]);
  return { ...answer, isCurrent: answer.of === subject };
};

/** Reason why no run was started, and the inputs concerned. */
export interface Refusal {
  trouble: Trouble;
  fields: ReadonlyMap<string, string>;
}

export const refusalOf = (error: unknown): Refusal => ({
  trouble: refusalTrouble(error),
  fields: new Map(
    issuesOf(error).flatMap(({ path, message }) => (path?.startsWith(INPUTS) ? [[path.slice(INPUTS.length), message] as const] : [])),
  ),
});
