import { useQuery } from "@tanstack/react-query";
import { FlaskConical, Pencil } from "lucide-react";
import { messageOf, request } from "../../api/client";
import { useChange } from "../../api/use-change";
import { Button } from "../../ui/button";
import { Notice } from "../../ui/notice";
import { Time } from "../../ui/time";
import { complain } from "../../ui/overlays/toast";
import { useEditor } from "../context";
import { Failures, OutcomeBadge, RunReason, type TestOutcome } from "../tests/results";
import { hasTestsQuery, lastTestRunQuery } from "./queries";
import { TESTS } from "../../messages/editor/tests";

/** Runs the tests on the canvas's draft or on a version. */
export const RunTests = ({ version }: { version?: number }) => {
  const { document, slug } = useEditor();
  const { data: hasTests = false } = useQuery(hasTestsQuery(slug));
  const { busy, run } = useChange("test-runs");
  if (!hasTests) return null;
  const start = (): Promise<void> =>
    run(async () => {
      if (version === undefined && !(await document.flush())) return complain(TESTS.notSaved);
      await request("runTests", { params: { slug }, body: version === undefined ? {} : { version } });
    });
  return (
    <Button size="sm" icon={FlaskConical} busy={busy} onClick={() => void start()}>
      {version === undefined ? TESTS.testDraft : TESTS.testVersion(version)}
    </Button>
  );
};

const Outcome = ({ result: { name, status, creditsCost, failures } }: { result: TestOutcome }) => (
  <li className="flex flex-col gap-1">
    <span className="flex items-center gap-2">
      <OutcomeBadge status={status} />
      <span className="min-w-0 flex-1 truncate">{name}</span>
      <span className="shrink-0 text-xs text-faint tabular-nums">{TESTS.credits(creditsCost)}</span>
    </span>
    <Failures failures={failures} />
  </li>
);

/** The last run of the workflow's tests, and the way to edit them. */
export const Tests = () => {
  const { slug, ui } = useEditor();
  const { data: hasTests = false } = useQuery(hasTestsQuery(slug));
  const { data: last, error } = useQuery({ ...lastTestRunQuery(slug), enabled: hasTests });
  return (
    <section aria-label={TESTS.tests} className="flex flex-col gap-2 border-t pt-3 text-sm">
      <div className="flex flex-wrap items-center gap-3">
        <span className="min-w-0 flex-1 wrap-anywhere max-sm:basis-full">
          <span className="font-medium">{TESTS.tests}</span>{" "}
          {last && (
            <span className="text-muted">
              {TESTS.lastRun(last.version, last.passed, last.total)} <Time iso={last.createdAt} />
            </span>
          )}
        </span>
        <Button size="sm" icon={Pencil} onClick={() => ui.setState({ overlay: "tests" })}>
          {TESTS.open}
        </Button>
        <RunTests />
      </div>
      {error && <Notice kind="bad">{messageOf(error)}</Notice>}
      {last && <RunReason run={last} />}
      {last && (
        <ul className="flex flex-col gap-2">
          {last.results.map((result) => (
            <Outcome key={result.name} result={result} />
          ))}
        </ul>
      )}
    </section>
  );
};
