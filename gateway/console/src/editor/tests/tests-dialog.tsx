import type { Execution, WorkflowTest } from "@nodeloom/client";
import { useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";
import { messageOf } from "../../api/client";
import { executionQuery } from "../../api/queries";
import { COMMON } from "../../messages/common";
import { TEST_FORM, TESTS } from "../../messages/editor/tests";
import { Button } from "../../ui/button";
import { Notice, Skeleton } from "../../ui/notice";
import { Dialog } from "../../ui/overlays/dialog";
import { say } from "../../ui/overlays/toast";
import { useEditor, useUi } from "../context";
import { useRunInputs } from "../run-inputs";
import { testsQuery } from "../versions/queries";
import { freeName, withTest } from "./expectations";
import { useStoredTests } from "./stored-tests";
import { TestForm, type TestDraft } from "./test-form";
import { TestList } from "./test-list";
import { testOfRun } from "./test-of-run";

/** Asks before typed values are lost. */
const Discard = ({ onDiscard, onKeep }: { onDiscard: () => void; onKeep: () => void }) => (
  <Notice
    kind="warn"
    className="mb-4"
    title={TEST_FORM.discardQuestion}
    actions={
      <>
        <Button size="sm" variant="danger" onClick={onDiscard}>
          {TEST_FORM.discard}
        </Button>
        <Button size="sm" autoFocus onClick={onKeep}>
          {TEST_FORM.keepEditing}
        </Button>
      </>
    }
  />
);

interface EditorProps {
  tests: readonly WorkflowTest[];
  /** The run that becomes a test; undefined to show the list. */
  execution: Execution | undefined;
  onClose: () => void;
}

const runDraft = (execution: Execution, tests: readonly WorkflowTest[]): TestDraft => ({
  originalName: undefined,
  ...testOfRun(execution, tests),
});

const TestsEditor = ({ tests, execution, onClose }: EditorProps) => {
  const { inputs } = useRunInputs(undefined);
  const { save, isSaving, problems, clearProblems } = useStoredTests();
  const [draft, setDraft] = useState(() => execution && runDraft(execution, tests));
  const [openedText, setOpenedText] = useState(() => JSON.stringify(draft?.test));
  /** What to do after changes are discarded. */
  const [leave, setLeave] = useState<() => void>();
  const [isReturn, setReturn] = useState(false);
  const form = useId();

  const edit = (next: TestDraft | undefined): void => {
    clearProblems();
    setLeave(undefined);
    setReturn(next === undefined);
    setDraft(next);
    setOpenedText(JSON.stringify(next?.test));
  };
  const isChanged = draft !== undefined && JSON.stringify(draft.test) !== openedText;
  const attempt = (go: () => void): boolean => {
    if (!isChanged) return true;
    setLeave(() => go);
    return false;
  };
  const toList = (): void => edit(undefined);

  const store = async ({ originalName }: TestDraft, test: WorkflowTest): Promise<void> => {
    if (!(await save((stored) => withTest(stored, originalName, test), test.name))) return;
    say(TEST_FORM.saved(test.name));
    toList();
  };
  const remove = async (test: WorkflowTest): Promise<void> => {
    if (!(await save((stored) => stored.filter(({ name }) => name !== test.name)))) return;
    say(TESTS.deleted(test.name), { label: TESTS.undo, run: () => void save((stored) => withTest(stored, test.name, test)) });
  };

  return (
    <Dialog
      title={draft === undefined ? TESTS.tests : draft.originalName === undefined ? TEST_FORM.newTest : TEST_FORM.editTest}
      width="lg"
      onClose={onClose}
      mayClose={() => attempt(onClose)}
      actions={
        draft && (
          <>
            <Button onClick={() => attempt(toList) && toList()}>{TEST_FORM.back}</Button>
            <Button type="submit" form={form} variant="primary" busy={isSaving}>
              {COMMON.save}
            </Button>
          </>
        )
      }
    >
      {leave && <Discard onDiscard={leave} onKeep={() => setLeave(undefined)} />}
      {draft === undefined ? (
        <>
          <p className="mb-4 text-sm text-muted">{TESTS.intro}</p>
          {problems && (
            <Notice kind="bad" className="mb-4">
              {problems.message}
            </Notice>
          )}
          <TestList
            tests={tests}
            isReturn={isReturn}
            onAdd={() =>
              edit({ originalName: undefined, test: { name: freeName(TESTS.newName, tests), inputs, expect: [] }, suggestions: [] })
            }
            onEdit={(test) => edit({ originalName: test.name, test, suggestions: [] })}
            onDuplicate={(test) => edit({ originalName: undefined, test: { ...test, name: freeName(test.name, tests) }, suggestions: [] })}
            onDelete={(test) => void remove(test)}
          />
        </>
      ) : (
        <TestForm
          draft={draft}
          problems={problems}
          id={form}
          onChange={(test) => setDraft({ ...draft, test })}
          onSave={(test) => void store(draft, test)}
        />
      )}
    </Dialog>
  );
};

/** Lists, edits and runs the tests of the workflow. With a run in the editor's state, that run becomes a new test. */
export const TestsDialog = ({ onClose }: { onClose: () => void }) => {
  const { slug, ui, canEdit } = useEditor();
  const testedRun = useUi((state) => state.testedRun);
  const stored = useQuery({ ...testsQuery(slug), enabled: canEdit });
  const run = useQuery({ ...executionQuery(testedRun ?? ""), enabled: testedRun !== undefined });
  const close = (): void => {
    ui.setState({ testedRun: undefined });
    onClose();
  };
  const error = stored.error ?? run.error;
  const isLoaded = stored.data !== undefined && (testedRun === undefined || run.data !== undefined);
  const isUnfinished = testedRun !== undefined && run.data !== undefined && run.data.status !== "completed";
  if (canEdit && isLoaded && !isUnfinished) return <TestsEditor tests={stored.data} execution={run.data} onClose={close} />;
  return (
    <Dialog title={TESTS.tests} width="lg" onClose={close}>
      {!canEdit && <Notice>{TESTS.readOnly}</Notice>}
      {error && <Notice kind="bad">{messageOf(error)}</Notice>}
      {isUnfinished && <Notice kind="warn">{TESTS.unfinished}</Notice>}
      {canEdit && !error && !isLoaded && <Skeleton lines={4} />}
    </Dialog>
  );
};
