import { NodeloomError, type NodeState, type RerunQuote, type RerunRequest } from "@nodeloom/client";
import { useEffect, useState } from "react";
import { request } from "../../api/client";
import { credits } from "../../ui/format";
import { nameOfNode } from "../node-name";
import { failedIn } from "../outputs";
import { refusalTrouble, type Trouble } from "../trouble/trouble";
import { RERUN } from "../../messages/runs";

/** Reruns of executions: reused calls, price and start. */

/** The service responds at once; events or polls follow. */
const PREFER = { prefer: "wait=0" };
const EXECUTION_ID = "x-execution-id";
const QUOTE_AFTER_MS = 300;

export type Again = Pick<RerunRequest, "inputs" | "nodes" | "reuse" | "until" | "version">;

export interface RerunAnswer {
  quote?: RerunQuote;
  problem?: Trouble;
  /** False while the quote is of earlier inputs or of an earlier revision. */
  isCurrent: boolean;
}

/** Price of a rerun's new calls. @param revision revision of the canvas; a change requests a new quote */
export const useRerunQuote = (id: string, again: Again, enabled: boolean, revision = ""): RerunAnswer => {
  const [answer, setAnswer] = useState<Omit<RerunAnswer, "isCurrent"> & { of?: string }>({});
  const key = JSON.stringify(again);
  const subject = `${id} ${revision} ${key}`;
  useEffect(() => {
    if (!enabled) return undefined;
    const abort = new AbortController();
    const ask = async (): Promise<void> => {
      try {
        const { body } = await request("quoteRerun", { params: { id }, body: JSON.parse(key) as Again, signal: abort.signal });
        setAnswer({ quote: body, of: subject });
      } catch (error) {
        if (!abort.signal.aborted) setAnswer({ problem: refusalTrouble(error), of: subject });
      }
    };
    const timer = setTimeout(() => void ask(), QUOTE_AFTER_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [id, key, enabled, subject]);
  return { ...answer, isCurrent: answer.of === subject };
};

/**
 * Starts a rerun, which can fail at once.
 * @param most credit limit; null for none
 * @returns the new execution's id
 * @throws NodeloomError if no run was started
 */
export const startRerun = async (id: string, again: Again, most: number | null): Promise<string> => {
  const body: RerunRequest = { ...again, mode: "async", ...(most === null ? {} : { maxCredits: most }) };
  try {
    const { headers } = await request("rerunExecution", { params: { id }, body, headers: PREFER, idempotencyKey: crypto.randomUUID() });
    return headers.get(EXECUTION_ID) ?? "";
  } catch (error) {
    if (error instanceof NodeloomError && error.executionId !== undefined) return error.executionId;
    throw error;
  }
};

/** Text such as "2 of 3 reused, saves 5.2 credits". */
export const reusedWords = ({ reused: { calls, of, savedCredits } }: RerunQuote): string => {
  if (calls === 0) return of === 0 ? RERUN.noModels : RERUN.nothingReusable;
  return RERUN.reused(calls, of, savedCredits > 0 ? credits(savedCredits) : "");
};

/** Texts such as "Picture, item 2" for failed calls that the rerun repeats. */
export const failedWords = (nodes: readonly NodeState[]): string[] =>
  nodes.flatMap((node) => {
    if (node.status !== "failed") return [];
    const { title, items, failed } = failedIn(node, nameOfNode(node));
    return items > 1 && failed.length > 0 ? failed.map(({ item }) => RERUN.item(title, item + 1)) : [title];
  });
