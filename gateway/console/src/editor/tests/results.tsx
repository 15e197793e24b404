import type { TestCheck, TestRunWithResults } from "@nodeloom/client";
import { CircleCheck, CircleX } from "lucide-react";
import { TESTS } from "../../messages/editor/tests";
import { Badge } from "../../ui/badge";
import { Notice } from "../../ui/notice";

export type TestOutcome = TestRunWithResults["results"][number];

export const valueText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

type CheckValues = Pick<TestCheck, "kind" | "path" | "expected" | "got">;
interface Verdict {
  score: number;
  reason?: string;
  votes?: { reason: string }[];
}
const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;
const isVerdict = (value: unknown): value is Verdict => isObject(value) && "score" in value;

/** A judge's lowest score and its verdict as words, other values as JSON. */
const valuesOf = ({ kind, expected, got }: CheckValues): [expected: string, actual: string] => {
  const isScore = kind === "judge" && isObject(expected) && "atLeast" in expected;
  return [
    isScore ? TESTS.atLeast(String(expected.atLeast)) : valueText(expected),
    isScore && isVerdict(got) ? TESTS.verdict(got.score, got.reason ?? got.votes?.[0]?.reason ?? "") : valueText(got),
  ];
};

/** A check in one sentence. */
export const checkWords = (check: CheckValues): string =>
  TESTS.failure(check.path === undefined ? check.kind : `${check.kind} ${check.path}`, ...valuesOf(check));

export const OutcomeBadge = ({ status }: Pick<TestOutcome, "status">) => (
  <Badge tone={status === "passed" ? "ok" : status === "failed" ? "bad" : "neutral"}>{TESTS.statuses[status]}</Badge>
);

/** Why a run of the tests has to wait; empty for one that doesn't. */
export const RunReason = ({ run: { status, reason } }: { run: Pick<TestRunWithResults, "status" | "reason"> }) => {
  const isPaused = status === "paused";
  if (!isPaused && (status !== "running" || !reason)) return null;
  return (
    <Notice kind="warn" title={isPaused ? TESTS.paused : TESTS.waiting}>
      {reason?.message}
    </Notice>
  );
};

/** Failures of a test as one line each. */
export const Failures = ({ failures }: Pick<TestOutcome, "failures">) => (
  <ul className="flex flex-col gap-0.5 pl-4 empty:hidden">
    {failures.map((failure, index) => (
      <li key={index} className="text-xs break-words text-muted">
        {checkWords(failure)}
      </li>
    ))}
  </ul>
);

/** All checks of a test, with the expected and the measured value. */
export const Checks = ({ checks }: Pick<TestOutcome, "checks">) => (
  <ul className="flex flex-col gap-1 empty:hidden">
    {checks.map((check, index) => {
      const Icon = check.passed ? CircleCheck : CircleX;
      return (
        <li key={index} className="flex items-start gap-2 text-xs text-muted">
          <Icon
            role="img"
            aria-label={check.passed ? TESTS.passed : TESTS.failed}
            className={`mt-0.5 size-3.5 shrink-0 ${check.passed ? "text-ok" : "text-bad"}`}
          />
          <span className="min-w-0 wrap-anywhere">{checkWords(check)}</span>
        </li>
      );
    })}
  </ul>
);
