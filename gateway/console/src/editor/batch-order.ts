import type { BatchQuote } from "@nodeloom/client";
import { useEffect, useState } from "react";
import { codeOf } from "../api/client";
import { BATCH_ORDER } from "../messages/editor/batch-order";
import { refusalTrouble, type Trouble } from "../runs/trouble/trouble";
import { roundCredits } from "../ui/format";
import { useDocument, useEditor } from "./context";

/** Quotes and starts batches that run the draft: variations of a node, and comparisons of models. */

/** A kind of batch. `T` is its order as JSON. */
export interface BatchKind<T> {
  quote(slug: string, order: T, options: { signal: AbortSignal }): Promise<BatchQuote>;
  start(slug: string, order: T, quote: BatchQuote | undefined, options: { idempotencyKey: string }): Promise<{ batchId: string }>;
  /** How long an order must stay the same before its price is requested. */
  quoteAfterMs: number;
}

interface Answer {
  quote?: BatchQuote;
  problem?: Trouble;
  /** Code of the problem, if the service returned it. */
  code?: string | undefined;
}

const problemOf = (error: unknown): Answer => ({ problem: refusalTrouble(error), code: codeOf(error) });

/** Price of an order, and its start. Both save the draft first. @param isReady false while there is nothing to price */
export const useBatchOrder = <T>(kind: BatchKind<T>, order: T, isReady: boolean) => {
  const { slug, document } = useEditor();
  const etag = useDocument((state) => state.etag);
  const [answer, setAnswer] = useState<Answer>({});
  const [isStarting, setStarting] = useState(false);
  const json = JSON.stringify(order);
  useEffect(() => {
    setAnswer({});
    if (!isReady) return undefined;
    const abort = new AbortController();
    const ask = async (): Promise<void> => {
      try {
        if (!(await document.flush())) throw new Error(BATCH_ORDER.notSaved);
        setAnswer({ quote: await kind.quote(slug, JSON.parse(json) as T, { signal: abort.signal }) });
      } catch (error) {
        if (!abort.signal.aborted) setAnswer(problemOf(error));
      }
    };
    const timer = setTimeout(() => void ask(), kind.quoteAfterMs);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [kind, slug, document, json, etag, isReady]);

  /** @returns the batch's id; undefined if it didn't start */
  const start = async (): Promise<string | undefined> => {
    setStarting(true);
    try {
      if (!(await document.flush())) throw new Error(BATCH_ORDER.notSaved);
      return (await kind.start(slug, order, answer.quote, { idempotencyKey: crypto.randomUUID() })).batchId;
    } catch (error) {
      setAnswer(problemOf(error));
      return undefined;
    } finally {
      setStarting(false);
    }
  };
  return { ...answer, start, isStarting };
};

/** Total cost: "29 credits", or the maximum if only the runs determine it. Never rounded down. */
export const priceWords = ({ exact, estimatedCreditCost, maxCreditCost }: BatchQuote): string =>
  maxCreditCost === 0 ? BATCH_ORDER.free : BATCH_ORDER.price(roundCredits(exact ? estimatedCreditCost : maxCreditCost, Math.ceil), exact);
