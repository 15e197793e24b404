import type { TestFailure, TestRunWithResults } from "@nodeloom/client";
import { useQuery } from "@tanstack/react-query";
import { FlaskConical } from "lucide-react";
import { messageOf, request } from "../../api/client";
import { useChange } from "../../api/use-change";
import { Badge } from "../../ui/badge";
import { Button } from "../../ui/button";
import { Notice } from "../../ui/notice";
import { Time } from "../../ui/time";
import { complain } from "../../ui/overlays/toast";
import { useEditor } from "../context";
import { hasTestsQuery, lastTestRunQuery } from "./queries";
import { TESTS } from "../../messages/editor/versions";

type Result = TestRunWithResults["results"][number];

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

const valueText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

const Failed = ({ failure: { kind, path, expected, got } }: { failure: TestFailure }) => (
  <li className="text-xs break-words text-muted">
    {TESTS.failure(path === undefined ? kind : `${kind} ${path}`, valueText(expected), valueText(got))}
  </li>
);

const Outcome = ({ result: { name, status, creditsCost, failures } }: { result: Result }) => (
  <li className="flex flex-col gap-1">
    <span className="flex items-center gap-2">
      <Badge tone={status === "passed" ? "ok" : status === "failed" ? "bad" : "neutral"}>{TESTS.statuses[status]}</Badge>
      <span className="min-w-0 flex-1 truncate">{name}</span>
      <span className="shrink-0 text-xs text-faint tabular-nums">{TESTS.credits(creditsCost)}</span>
    </span>
    {failures.length > 0 && (
      <ul className="flex flex-col gap-0.5 pl-4">
        {failures.map((failure, index) => (
          <Failed key={index} failure={failure} />
        ))}
      </ul>
    )}
  </li>
);

/** The last run of the workflow's tests; empty for a workflow without tests. */
export const Tests = () => {
  const { slug } = useEditor();
  const { data: hasTests = false } = useQuery(hasTestsQuery(slug));
  const { data: last, error } = useQuery({ ...lastTestRunQuery(slug), enabled: hasTests });
  if (!hasTests) return null;
  return (
    <section aria-label={TESTS.tests} className="flex flex-col gap-2 border-t pt-3 text-sm">
      <div className="flex items-center gap-3">
        <span className="min-w-0 flex-1 truncate">
          <span className="font-medium">{TESTS.tests}</span>{" "}
          {last && (
            <span className="text-muted">
              {TESTS.lastRun(last.version, last.passed, last.total)} <Time iso={last.createdAt} />
            </span>
          )}
        </span>
        <RunTests />
      </div>
      {error && <Notice kind="bad">{messageOf(error)}</Notice>}
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
