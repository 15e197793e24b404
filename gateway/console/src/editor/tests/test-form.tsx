import type { TestExpectation, WorkflowTest } from "@nodeloom/client";
import { Plus } from "lucide-react";
import { useEffect, useRef, useState, type ReactNode } from "react";
import { COMMON } from "../../messages/common";
import { TEST_FORM } from "../../messages/editor/tests";
import { RunForm } from "../../runs/run-form";
import { Button } from "../../ui/button";
import { InputField } from "../../ui/inputs/field";
import { NumberField } from "../../ui/inputs/value-inputs";
import { Notice } from "../../ui/notice";
import { useEditor } from "../context";
import { useRunInputs } from "../run-inputs";
import { errorsBelow } from "./error-at";
import { ExpectationCard } from "./expectation-card";
import { compact, newExpectation } from "./expectations";
import { valueText } from "./results";
import type { TestProblems } from "./stored-tests";

const MAX_EXPECTATIONS = 20;
const SUGGESTED_CHARS = 60;

/** A test that is being edited. */
export interface TestDraft {
  /** Name of the stored test; undefined for a new one. */
  originalName: string | undefined;
  test: WorkflowTest;
  /** Values that can be added as expectations. */
  suggestions: readonly TestExpectation[];
}

const short = (text: string): string => (text.length > SUGGESTED_CHARS ? `${text.slice(0, SUGGESTED_CHARS)}…` : text);

const Section = ({ title, children }: { title: string; children: ReactNode }) => (
  <fieldset className="flex min-w-0 flex-col gap-3">
    <legend className="mb-2 text-sm font-semibold">{title}</legend>
    {children}
  </fieldset>
);

interface PartProps {
  test: WorkflowTest;
  problems: TestProblems | undefined;
  onChange: (changes: Partial<WorkflowTest>) => void;
}

const Inputs = ({ test: { inputs }, problems, onChange }: PartProps) => {
  const { me } = useEditor();
  const { fields } = useRunInputs(undefined);
  const names = new Set(fields.map(({ name }) => name));
  const others = Object.keys(inputs).filter((name) => !names.has(name));
  const ofInputs = [...(problems?.fields ?? [])].flatMap(([path, message]) =>
    path.startsWith("inputs.") ? [[path.slice("inputs.".length), message] as const] : [],
  );
  return (
    <Section title={COMMON.inputs}>
      <RunForm
        fields={fields}
        values={inputs}
        errors={new Map(ofInputs)}
        mayUpload={me.user.approved}
        onChange={(values) => onChange({ inputs: values })}
      />
      {others.length > 0 && <Notice kind="warn">{TEST_FORM.otherInputs(others.join(", "))}</Notice>}
    </Section>
  );
};

const Expectations = ({ test: { expect }, problems, onChange, suggestions }: PartProps & Pick<TestDraft, "suggestions">) => {
  const { me } = useEditor();
  // Fields of a card stay with it when an earlier one is removed.
  const [ids, setIds] = useState(() => expect.map(() => crypto.randomUUID()));
  const add = (expectation: TestExpectation): void => {
    setIds([...ids, crypto.randomUUID()]);
    onChange({ expect: [...expect, expectation] });
  };
  const left = suggestions.filter((one) => !expect.some((other) => JSON.stringify(other) === JSON.stringify(one)));
  const isFull = expect.length >= MAX_EXPECTATIONS;
  return (
    <Section title={TEST_FORM.expectations}>
      <p className="text-xs text-faint">{TEST_FORM.completes}</p>
      <ol className="flex flex-col gap-3 empty:hidden">
        {expect.map((expectation, index) => (
          <ExpectationCard
            key={ids[index]}
            index={index}
            expectation={expectation}
            errorAt={errorsBelow(problems?.fields, `expect[${index}]`)}
            mayUpload={me.user.approved}
            onChange={(next) => onChange({ expect: expect.map((one, at) => (at === index ? next : one)) })}
            onRemove={() => {
              setIds(ids.filter((_, at) => at !== index));
              onChange({ expect: expect.filter((_, at) => at !== index) });
            }}
          />
        ))}
      </ol>
      <div>
        <Button size="sm" icon={Plus} disabled={isFull} onClick={() => add(newExpectation("text"))}>
          {TEST_FORM.addExpectation}
        </Button>
      </div>
      {left.length > 0 && (
        <div className="flex flex-col items-start gap-2">
          <p className="text-xs text-faint">{TEST_FORM.suggestions}</p>
          {left.map((one) => (
            <Button key={one.path} size="sm" icon={Plus} disabled={isFull} className="max-w-full" onClick={() => add(one)}>
              <span className="truncate">{TEST_FORM.addEqual(one.path ?? "", short(valueText(one.equals)))}</span>
            </Button>
          ))}
        </div>
      )}
    </Section>
  );
};

const Limits = ({ test, problems, onChange }: PartProps) => (
  <Section title={TEST_FORM.limits}>
    <div className="grid gap-3 sm:grid-cols-2">
      {(["maxCredits", "maxMs"] as const).map((name) => (
        <NumberField
          key={name}
          label={TEST_FORM[name]}
          hint={TEST_FORM[`${name}Hint`]}
          error={problems?.fields.get(name)}
          value={test[name]}
          onChange={(value) => onChange({ [name]: value })}
        />
      ))}
    </div>
  </Section>
);

interface TestFormProps {
  draft: TestDraft;
  problems: TestProblems | undefined;
  /** Id of the form, for its buttons. */
  id: string;
  onChange: (test: WorkflowTest) => void;
  onSave: (test: WorkflowTest) => void;
}

/** Fields of one test. */
export const TestForm = ({ draft: { test, suggestions }, problems, id, onChange, onSave }: TestFormProps) => {
  const { fields } = useRunInputs(undefined);
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    const field = problems && form.current?.querySelector<HTMLElement>("[aria-invalid=true]");
    field?.focus({ preventScroll: true });
    field?.scrollIntoView({ block: "center" });
  }, [problems]);
  const change = (changes: Partial<WorkflowTest>): void => onChange({ ...test, ...changes });
  const save = (): void => {
    const names = new Set(fields.map(({ name }) => name));
    const inputs = Object.fromEntries(Object.entries(test.inputs).filter(([name, value]) => names.has(name) && value !== undefined));
    onSave({ ...compact(test), name: test.name, inputs });
  };
  const part = { test, problems, onChange: change };
  return (
    <form
      ref={form}
      id={id}
      className="flex flex-col gap-5"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <InputField
        label={COMMON.name}
        hint={TEST_FORM.nameHint}
        error={problems?.fields.get("name")}
        value={test.name}
        autoFocus
        data-first
        onText={(name) => change({ name })}
      />
      <div className="grid gap-6 lg:grid-cols-2">
        <div className="flex min-w-0 flex-col gap-6">
          <Inputs {...part} />
          <Limits {...part} />
        </div>
        <Expectations {...part} suggestions={suggestions} />
      </div>
      {problems && (
        <Notice kind="bad" title={TEST_FORM.notSaved}>
          {problems.message}
          {problems.others.map((text) => (
            <span key={text} className="block">
              {text}
            </span>
          ))}
        </Notice>
      )}
    </form>
  );
};
