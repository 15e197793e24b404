import type { CanaryArm, WorkflowAlias } from "@nodeloom/client";
import { CANARY_BOUNDS, PRODUCTION } from "@nodeloom/kernel/limits";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { CANARIES } from "../../messages/editor/versions";
import { Button } from "../../ui/button";
import { credits, duration } from "../../ui/format";
import { Field, Input } from "../../ui/inputs/field";
import { useEditor } from "../context";
import { aliasesQuery } from "./queries";
import { useAliasChange } from "./use-alias-change";

const PERCENT = 10;
const MIN_RUNS = 50;

const armWords = (version: number, { runs, failed, creditsCost, durationMs }: CanaryArm): string =>
  CANARIES.arm(version, runs, failed, creditsCost === null ? "–" : credits(creditsCost), durationMs === null ? "–" : duration(durationMs));

/** The results of an alias's canary, or how its last one ended. */
export const CanaryState = ({ alias: { name, version, canary, lastCanary } }: { alias: WorkflowAlias }) => {
  const { busy, stopCanary } = useAliasChange();
  if (canary && version !== null)
    return (
      <div
        role="group"
        aria-label={CANARIES.ofAlias(name)}
        className="flex items-start gap-3 rounded-lg border border-line p-2 text-xs text-muted"
      >
        <div className="min-w-0 flex-1">
          <p className="font-medium text-text">{CANARIES.running(canary.version, canary.percent, canary.minRuns)}</p>
          <p>{armWords(version, canary.base)}</p>
          <p>{armWords(canary.version, canary.canary)}</p>
          <p>{CANARIES.confidence(canary.confidence)}</p>
        </div>
        <Button size="sm" busy={busy} onClick={() => void stopCanary(name, version)}>
          {CANARIES.stop}
        </Button>
      </div>
    );
  if (!lastCanary) return null;
  const { outcome, reason, confidence, canary: arm } = lastCanary;
  return (
    <p className="text-xs text-muted">
      {outcome === "promoted"
        ? CANARIES.promoted(lastCanary.version, arm.runs)
        : CANARIES.rolledBack(lastCanary.version, arm.runs, reason, confidence)}
    </p>
  );
};

/** Sends a share of the runs of `production` to a version. */
export const StartCanary = ({ version }: { version: number }) => {
  const { slug } = useEditor();
  const { data: aliases = [] } = useQuery(aliasesQuery(slug));
  const { busy, startCanary } = useAliasChange();
  const [percent, setPercent] = useState(String(PERCENT));
  const [minRuns, setMinRuns] = useState(String(MIN_RUNS));
  const current = aliases.find(({ name }) => name === PRODUCTION)?.version ?? null;
  if (current === null || current === version) return null;
  const isIn = (text: string, least: number, most: number): boolean => /^\d+$/.test(text) && Number(text) >= least && Number(text) <= most;
  const { percent: mostPercent, leastRuns, mostRuns } = CANARY_BOUNDS;
  const isValid = isIn(percent, 1, mostPercent) && isIn(minRuns, leastRuns, mostRuns);
  return (
    <form
      className="flex flex-wrap items-end gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        void startCanary(PRODUCTION, current, { version, percent: Number(percent), minRuns: Number(minRuns) });
      }}
    >
      <Field label={CANARIES.percent} hint={CANARIES.percentHint(mostPercent)} className="w-40">
        {(attributes) => <Input {...attributes} inputMode="numeric" value={percent} onText={setPercent} />}
      </Field>
      <Field label={CANARIES.minRuns} hint={CANARIES.minRunsHint(leastRuns)} className="w-40">
        {(attributes) => <Input {...attributes} inputMode="numeric" value={minRuns} onText={setMinRuns} />}
      </Field>
      <Button type="submit" size="sm" busy={busy} disabled={!isValid} className="sm:mb-5">
        {CANARIES.start}
      </Button>
    </form>
  );
};
