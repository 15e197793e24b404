import type { TestExpectation } from "@nodeloom/client";
import { Trash2 } from "lucide-react";
import { useState } from "react";
import { COMMON } from "../../messages/common";
import { TEST_FORM } from "../../messages/editor/tests";
import { IconButton } from "../../ui/button";
import { AreaField, InputField, SelectField } from "../../ui/inputs/field";
import { JsonInput } from "../../ui/inputs/value-inputs";
import type { ErrorAt } from "./error-at";
import { EXPECTATION_FORMS, formOf, inForm, type ExpectationForm } from "./expectations";
import { FileFields } from "./file-fields";
import { JudgeFields } from "./judge-fields";

interface FieldsProps {
  form: ExpectationForm;
  expectation: TestExpectation;
  errorAt: ErrorAt;
  mayUpload: boolean;
  onChange: (check: TestExpectation) => void;
}

const CODE = "font-mono text-xs!";

const Fields = ({ form, expectation, errorAt, mayUpload, onChange }: FieldsProps) => {
  const { equals, contains, matches, jmespath, schema, file, judge } = expectation;
  switch (form) {
    case "text":
      return (
        <AreaField
          label={COMMON.text}
          error={errorAt("equals")}
          rows={2}
          value={typeof equals === "string" ? equals : ""}
          onText={(text) => onChange({ equals: text })}
        />
      );
    case "contains":
      return (
        <InputField
          label={COMMON.text}
          error={errorAt("contains")}
          value={contains ?? ""}
          onText={(text) => onChange({ contains: text })}
        />
      );
    case "matches":
      return (
        <InputField
          label={TEST_FORM.pattern}
          error={errorAt("matches")}
          spellCheck={false}
          className={CODE}
          value={matches ?? ""}
          onText={(text) => onChange({ matches: text })}
        />
      );
    case "jmespath":
      return (
        <InputField
          label={TEST_FORM.expression}
          hint={TEST_FORM.expressionHint}
          error={errorAt("jmespath")}
          spellCheck={false}
          className={CODE}
          value={jmespath ?? ""}
          onText={(text) => onChange({ jmespath: text })}
        />
      );
    case "value":
      return <JsonInput label={COMMON.value} rows={3} value={equals} onChange={(value) => onChange({ equals: value ?? null })} />;
    case "schema":
      return (
        <JsonInput
          label={TEST_FORM.schema}
          value={schema}
          onChange={(value) => onChange({ schema: (value ?? {}) as Record<string, unknown> })}
        />
      );
    case "file":
      return <FileFields file={file!} errorAt={errorAt} mayUpload={mayUpload} onChange={onChange} />;
    case "rubric":
    case "comparison":
      return <JudgeFields judge={judge!} errorAt={errorAt} onChange={onChange} />;
  }
};

interface CardProps {
  index: number;
  expectation: TestExpectation;
  errorAt: ErrorAt;
  mayUpload: boolean;
  onChange: (expectation: TestExpectation) => void;
  onRemove: () => void;
}

/** One expectation: place, kind and its fields. */
export const ExpectationCard = ({ index, expectation, errorAt, mayUpload, onChange, onRemove }: CardProps) => {
  const { path = "", ...check } = expectation;
  // A JSON text in the field for values stays there.
  const [form, setForm] = useState(() => formOf(expectation));
  const problem = ["", ".file", ".judge", ".schema", form === "value" ? ".equals" : ""].map(errorAt).find((text) => text !== undefined);
  const put = (newPath: string, newCheck: TestExpectation): void => onChange(newPath === "" ? newCheck : { path: newPath, ...newCheck });
  return (
    <li aria-label={TEST_FORM.expectation(index + 1)} className="flex flex-col gap-3 rounded-xl border p-3">
      <div className="flex items-end gap-2">
        <div className="min-w-0 flex-1">
          <SelectField
            label={TEST_FORM.check}
            error={problem}
            value={form}
            onText={(text) => {
              const next = text as ExpectationForm;
              setForm(next);
              onChange(inForm(expectation, next));
            }}
            options={EXPECTATION_FORMS.map((one) => [one, TEST_FORM.forms[one]] as const)}
          />
        </div>
        <IconButton icon={Trash2} label={TEST_FORM.removeExpectation(index + 1)} onClick={onRemove} />
      </div>
      <InputField
        label={TEST_FORM.path}
        hint={TEST_FORM.pathHint}
        error={errorAt(".path")}
        spellCheck={false}
        className={CODE}
        value={path}
        onText={(text) => put(text, check)}
      />
      <Fields
        key={form}
        form={form}
        expectation={expectation}
        errorAt={(place) => errorAt(`.${place}`)}
        mayUpload={mayUpload}
        onChange={(next) => put(path, next)}
      />
    </li>
  );
};
