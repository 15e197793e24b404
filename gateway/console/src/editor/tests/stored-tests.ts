import { NodeloomError, type WorkflowTest } from "@nodeloom/client";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { issuesOf, messageOf, request } from "../../api/client";
import { useEditor } from "../context";
import { testsQuery } from "../versions/queries";

const STALE = 412;
const MAX_ROUNDS = 5;

const isStale = (error: unknown): boolean => error instanceof NodeloomError && error.status === STALE;

/**
 * Changes the newest tests of a workflow, so that changes by others are kept.
 * @param change from the stored tests; called again if others saved in between
 * @throws NodeloomError
 */
const changeTests = async (slug: string, change: (tests: readonly WorkflowTest[]) => WorkflowTest[]): Promise<void> => {
  for (let round = 1; ; round += 1) {
    const { body, headers } = await request("getWorkflow", { params: { slug } });
    try {
      const ifMatch = { "if-match": headers.get("etag") ?? "*" };
      await request("updateWorkflow", { params: { slug }, body: { tests: change(body.tests ?? []) }, headers: ifMatch });
      return;
    } catch (error) {
      if (!isStale(error) || round === MAX_ROUNDS) throw error;
    }
  }
};

export interface TestProblems {
  message: string;
  /** Messages by place in the saved test, such as `expect[0].matches`. */
  fields: ReadonlyMap<string, string>;
  /** Messages about other places. */
  others: readonly string[];
}

/** @param index the place of the saved test in the list that was sent */
const problemsOf = (error: unknown, index: number): TestProblems => {
  const prefix = `tests[${index}].`;
  const issues = issuesOf(error);
  const isOwn = (path: string | undefined): path is string => path?.startsWith(prefix) === true;
  return {
    message: messageOf(error),
    fields: new Map(issues.flatMap(({ path, message }) => (isOwn(path) ? [[path.slice(prefix.length), message] as const] : []))),
    others: issues.flatMap(({ path, message }) => (isOwn(path) ? [] : [path === undefined ? message : `${path} ${message}`])),
  };
};

/** Saves changes of the open workflow's tests. */
export const useStoredTests = () => {
  const { slug, document } = useEditor();
  const client = useQueryClient();
  const [isSaving, setSaving] = useState(false);
  const [problems, setProblems] = useState<TestProblems>();
  /** @param savedName name of the test whose problems are shown at its fields @returns true if it was saved */
  const save = async (change: (tests: readonly WorkflowTest[]) => WorkflowTest[], savedName?: string): Promise<boolean> => {
    setSaving(true);
    let index = -1;
    try {
      await changeTests(slug, (tests) => {
        const changed = change(tests);
        // A new test with the name of another is the later one.
        index = changed.findLastIndex(({ name }) => name === savedName);
        return changed;
      });
      setProblems(undefined);
      await client.invalidateQueries({ queryKey: testsQuery(slug).queryKey });
      // The tests belong to the workflow's revision.
      await document.refresh().catch(() => undefined);
      return true;
    } catch (error) {
      setProblems(problemsOf(error, index));
      return false;
    } finally {
      setSaving(false);
    }
  };
  return { save, isSaving, problems, clearProblems: () => setProblems(undefined) };
};
