import type { TestRunWithResults, WorkflowTest } from "@nodeloom/client";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { CircleStop, Copy, ExternalLink, FlaskConical, Pencil, Plus, Trash2 } from "lucide-react";
import { api, messageOf } from "../../api/client";
import { useChange } from "../../api/use-change";
import { BATCH_ORDER } from "../../messages/editor/batch-order";
import { TESTS } from "../../messages/editor/tests";
import { COMMON } from "../../messages/common";
import { TroubleNotice } from "../../runs/trouble/trouble-notice";
import { Button, IconButton } from "../../ui/button";
import { credits, duration } from "../../ui/format";
import { Empty, Notice } from "../../ui/notice";
import { Time } from "../../ui/time";
import { priceWords, useBatchOrder, type BatchKind } from "../batch-order";
import { useEditor } from "../context";
import { lastTestRunQuery } from "../versions/queries";
import { Checks, OutcomeBadge, RunReason, type TestOutcome } from "./results";

const DRAFT_TESTS: BatchKind<object> = {
  quote: (slug, _order, options) => api.tests.quote(slug, {}, options),
  start: (slug, _order, _quote, options) => api.tests.run(slug, {}, options),
  quoteAfterMs: 0,
};
const ORDER = {};

const UNENDED: ReadonlySet<TestOutcome["status"]> = new Set(["waiting", "processing"]);

/** Price of the tests on the draft, and their start. */
const RunBar = ({ tests, isRunning }: { tests: readonly WorkflowTest[]; isRunning: boolean }) => {
  const { me } = useEditor();
  const isAllowed = me.user.approved;
  const { quote, problem, start, isStarting } = useBatchOrder(DRAFT_TESTS, ORDER, isAllowed);
  const { run } = useChange("test-runs", "me");
  const hasJudges = tests.some(({ expect }) => expect.some(({ judge }) => judge !== undefined));
  return (
    <>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <Button
          variant="primary"
          icon={FlaskConical}
          busy={isStarting || isRunning}
          disabled={!isAllowed || quote === undefined}
          onClick={() => void run(start)}
        >
          {quote === undefined ? TESTS.run : TESTS.runFor(priceWords(quote))}
        </Button>
        <span className="text-xs text-faint">
          {isAllowed && quote === undefined && problem === undefined
            ? BATCH_ORDER.gettingThePrice
            : hasJudges
              ? TESTS.judgesHint
              : TESTS.quoteHint}
        </span>
      </div>
      {problem && <TroubleNotice kind="warn" trouble={problem} />}
    </>
  );
};

/** State of the last run, with its page. */
const LastRun = ({ last }: { last: TestRunWithResults }) => {
  const { busy, run } = useChange("test-runs");
  const { batchId, status, version, passed, failed, total, createdAt, creditsCost } = last;
  const isOpen = status === "running" || status === "paused";
  return (
    <section aria-label={TESTS.lastResults} className="flex flex-col gap-2 text-sm">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <span aria-live="polite" className="tabular-nums">
          {isOpen ? TESTS.running(passed + failed, total) : TESTS.lastRun(version, passed, total)}
        </span>
        <span className="text-xs text-muted">
          <Time iso={createdAt} /> · {credits(creditsCost)}
        </span>
        {isOpen && (
          <Button size="sm" icon={CircleStop} busy={busy} onClick={() => void run(() => api.batches.cancel(batchId))}>
            {COMMON.cancel}
          </Button>
        )}
        <Link to="/batches/$id" params={{ id: batchId }} className="text-accent-text underline underline-offset-2">
          {TESTS.openBatch}
        </Link>
      </div>
      <RunReason run={last} />
    </section>
  );
};

const factsOf = ({ expect, maxCredits, maxMs }: WorkflowTest): string =>
  TESTS.facts(expect.length, [
    ...(maxCredits === undefined ? [] : [TESTS.atMost(credits(maxCredits))]),
    ...(maxMs === undefined ? [] : [TESTS.atMost(duration(maxMs))]),
  ]);

interface RowActions {
  onEdit: (test: WorkflowTest) => void;
  onDuplicate: (test: WorkflowTest) => void;
  onDelete: (test: WorkflowTest) => void;
}

const Row = ({ test, outcome, onEdit, onDuplicate, onDelete }: RowActions & { test: WorkflowTest; outcome: TestOutcome | undefined }) => (
  <li className="flex flex-col gap-2 rounded-xl border p-3">
    <div className="flex flex-wrap items-center gap-2">
      <button type="button" className="min-w-40 flex-1 rounded-lg text-left hover:underline" onClick={() => onEdit(test)}>
        <span className="block text-sm font-medium wrap-anywhere">{test.name}</span>
        <span className="block text-xs text-faint">{factsOf(test)}</span>
      </button>
      {outcome && <OutcomeBadge status={outcome.status} />}
      <span className="flex">
        {outcome && outcome.status !== "waiting" && (
          <Link
            to="/executions/$id"
            params={{ id: outcome.executionId }}
            aria-label={TESTS.openRun(test.name)}
            className="inline-flex size-7 items-center justify-center rounded-lg text-muted hover:bg-hover"
          >
            <ExternalLink className="size-4" aria-hidden />
          </Link>
        )}
        <IconButton icon={Pencil} size="sm" label={TESTS.edit(test.name)} onClick={() => onEdit(test)} />
        <IconButton icon={Copy} size="sm" label={TESTS.duplicate(test.name)} onClick={() => onDuplicate(test)} />
        <IconButton icon={Trash2} size="sm" label={TESTS.delete(test.name)} onClick={() => onDelete(test)} />
      </span>
    </div>
    {outcome && !UNENDED.has(outcome.status) && (
      <>
        <Checks checks={outcome.checks} />
        <p className="text-xs text-faint tabular-nums">
          {credits(outcome.creditsCost)}
          {outcome.durationMs !== null && ` · ${duration(outcome.durationMs)}`}
        </p>
      </>
    )}
  </li>
);

interface TestListProps extends RowActions {
  tests: readonly WorkflowTest[];
  /** True if the list was shown again, so that the keyboard continues here. */
  isReturn: boolean;
  onAdd: () => void;
}

/** The workflow's tests with their last results. */
export const TestList = ({ tests, isReturn, onAdd, ...actions }: TestListProps) => {
  const { slug } = useEditor();
  const { data: last, error } = useQuery({ ...lastTestRunQuery(slug), enabled: tests.length > 0 });
  const add = (
    <Button icon={Plus} autoFocus={isReturn} data-first onClick={onAdd}>
      {TESTS.add}
    </Button>
  );
  if (tests.length === 0)
    return (
      <Empty icon={FlaskConical} title={TESTS.none} actions={add}>
        {TESTS.noneHint}
      </Empty>
    );
  const outcomes = new Map(last?.results.map((result) => [result.name, result]));
  return (
    <div className="flex flex-col gap-4">
      <RunBar tests={tests} isRunning={last?.status === "running"} />
      {error && <Notice kind="bad">{messageOf(error)}</Notice>}
      {last && <LastRun last={last} />}
      <ul aria-label={TESTS.tests} className="flex flex-col gap-2">
        {tests.map((test) => (
          <Row key={test.name} test={test} outcome={outcomes.get(test.name)} {...actions} />
        ))}
      </ul>
      <div>{add}</div>
    </div>
  );
};
