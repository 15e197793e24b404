import type { Quote, RerunQuote } from "@nodeloom/client";
import { useMemo } from "react";
import { request } from "../../api/client";
import { useRerunQuote, startRerun, type Again } from "../../runs/again/rerun";
import { withoutSignatures } from "../../document/signatures";
import { isOver, useLive } from "../../runs/live";
import { startRun, useQuote, type QuoteAnswer, type RunInputs, type RunTarget } from "../../runs/request";
import { useDocument, useEditor, useUi } from "../context";
import { nearerRun } from "../scene/fingerprints";
import { useKept } from "../pins/use-kept";
import { useRunInputs } from "../run-inputs";

/** The run that the button in the corner starts: the whole draft, reusing results that haven't changed since the last run. */

export interface NextRun {
  inputs: RunInputs;
  /** Run whose results are reused; undefined if nothing is reused. */
  base: string | undefined;
  /** True if that is the last run, whose results are on the canvas. */
  isBaseLast: boolean;
  again: Again;
  target: RunTarget;
}

/** The newest ended run: the one on the canvas, else the last one when the workflow was opened. */
const useLastRun = (): { id: string | undefined; isRead: boolean } => {
  const { slug } = useEditor();
  const run = useLive(({ runs }) => runs[slug]);
  const last = useUi((state) => state.lastRun);
  const id = run !== undefined && isOver(run) ? run.executionId : last?.executionId;
  return { id, isRead: id !== undefined || last !== undefined };
};

/**
 * Price of a run that reuses an earlier run's results: those of the usual base, or those of a run that the draft is nearer to, if that costs less.
 * A variation, a batch or another program can have made the last run.
 */
const useReuse = (usualBase: string | undefined, again: Again, mayChoose: boolean, enabled: boolean, etag: string) => {
  const { slug } = useEditor();
  const graph = useDocument((state) => state.graph);
  const nearer = useMemo(
    () => (mayChoose && enabled ? nearerRun(slug, graph, usualBase) : undefined),
    [mayChoose, enabled, slug, graph, usualBase],
  );
  const ofUsual = useRerunQuote(usualBase ?? "", again, enabled && usualBase !== undefined, etag);
  const ofNearer = useRerunQuote(nearer ?? "", again, nearer !== undefined, etag);
  // Before the price of the nearer run is known, and after that run is no longer stored, the other one counts.
  const [cost, nearerCost] = [ofUsual, ofNearer].map(({ quote }) => quote && (limitOf(quote) ?? Infinity));
  const isNearer = nearer !== undefined && nearerCost !== undefined && (usualBase === undefined || nearerCost < (cost ?? Infinity));
  const isCompared = nearer === undefined || ofNearer.isCurrent;
  const { quote, problem, isCurrent } = isNearer ? ofNearer : ofUsual;
  return { base: isNearer ? nearer : usualBase, quote, problem, isCurrent: isCurrent && isCompared };
};

interface NextRunAnswer extends Omit<QuoteAnswer, "quote"> {
  next: NextRun;
  quote: Quote | RerunQuote | undefined;
  /** True if a required input has no value. */
  empty: boolean;
}

export const useNextRun = (): NextRunAnswer => {
  const { slug, me, canEdit } = useEditor();
  const { fields, values, inputs } = useRunInputs(undefined);
  const etag = useDocument((state) => state.etag);
  const isSaved = useDocument((state) => state.write.kind === "saved");
  const own: Again = { inputs: { ...inputs }, ...(canEdit ? { version: "draft" as const } : {}) };
  const keptPins = useKept(own);
  const last = useLastRun();
  const usualBase = keptPins?.base ?? (canEdit ? last.id : undefined);
  const partial = useReuse(usualBase, keptPins?.again ?? own, canEdit && keptPins === undefined && last.isRead, me.user.approved, etag);
  const { base } = partial;
  // A run that is no longer stored can't be reused.
  const isWhole = base === undefined || partial.problem !== undefined;
  const target = useMemo<RunTarget>(() => ({ workflow: slug, ...(canEdit ? { version: "draft" as const } : {}) }), [slug, canEdit]);
  const whole = useQuote(target, inputs, me.user.approved && isWhole && last.isRead, etag);
  const empty = fields.some(({ name, required }) => required && (values[name] === undefined || values[name] === ""));
  const { quote, problem, isCurrent } = isWhole ? whole : partial;
  const next = { inputs, base: isWhole ? undefined : base, isBaseLast: base === usualBase, again: keptPins?.again ?? own, target };
  return { next, quote, problem, empty, isCurrent: isCurrent && isSaved };
};

/** Price of a run of the saved draft. @throws NodeloomError */
export const quoteNow = async ({ base, again, target, inputs }: NextRun): Promise<Quote | RerunQuote> => {
  if (base !== undefined) return (await request("quoteRerun", { params: { id: base }, body: again })).body;
  const { workflow, version } = target as Extract<RunTarget, { workflow: string }>;
  const query = version === undefined ? {} : { query: { version } };
  return (await request("quoteWorkflow", { params: { slug: workflow }, ...query, body: { inputs: { ...inputs } } })).body;
};

/** Maximum cost of a run: its price if that is exact. */
export const limitOf = ({ exact, estimatedCreditCost, maxCreditCost }: Quote | RerunQuote): number | null =>
  exact ? estimatedCreditCost : maxCreditCost;

/**
 * @returns the execution's id
 * @throws NodeloomError if no run was started
 */
export const startNext = ({ base, again, target, inputs }: NextRun, limit: number | null): Promise<string> =>
  base === undefined ? startRun(target, inputs, limit) : startRerun(base, again, limit);

/** True if a run would reuse every call. */
export const isAllReused = (quote: Quote | RerunQuote): boolean => "reused" in quote && quote.reused.calls === quote.reused.of;

/** True if two runs have the same inputs, in any order. */
export const sameInputs = (a: unknown, b: unknown): boolean => {
  const sorted = (value: unknown): string =>
    withoutSignatures(JSON.stringify(Object.entries((value ?? {}) as object).sort(([one], [two]) => (one < two ? -1 : 1))));
  return sorted(a) === sorted(b);
};
