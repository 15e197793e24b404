import { useState } from "react";
import type { DocNode } from "../../document/graph";
import { answerOfSchema, schemaOfAnswer, TEXT_ANSWER, type Answer, type AnswerField } from "../../runs/answers/schema-form";
import { Button } from "../../ui/button";
import { SelectField } from "../../ui/inputs/field";
import { JsonInput, NumberField } from "../../ui/inputs/value-inputs";
import { AnswerFields, nameProblem } from "./answer-fields";
import { useSetting } from "./use-setting";
import { COMMON } from "../../messages/common";
import { ANSWER_FORM } from "../../messages/editor/inspector";

const SHAPES = [
  ["text", COMMON.text],
  ["list", ANSWER_FORM.list],
  ["fields", ANSWER_FORM.fields],
] as const;
const FIRST: readonly AnswerField[] = [{ name: "title", type: "text", choices: [], description: "" }];
const LIST_BOUNDS = { least: 1, most: 50 } as const;

const ListBounds = ({ answer, disabled, write }: { answer: Answer; disabled: boolean; write: (answer: Answer) => void }) => (
  <div className="grid grid-cols-2 gap-2">
    {(["least", "most"] as const).map((end) => (
      <NumberField
        key={end}
        label={end === "least" ? ANSWER_FORM.minimumItems : ANSWER_FORM.maximumItems}
        disabled={disabled}
        value={answer[end]}
        onChange={(count) =>
          write({ ...answer, [end]: count === undefined ? undefined : Math.round(Math.min(LIST_BOUNDS.most, Math.max(0, count))) })
        }
      />
    ))}
    <p className="col-span-2 text-xs text-faint">{ANSWER_FORM.listBoundsHint}</p>
  </div>
);

/** Output of an assistant: text, a list, or fields. A richer schema is kept and edited as JSON. */
export const AnswerForm = ({ node }: { node: DocNode }) => {
  const { set, disabled } = useSetting(node);
  const { schema } = node.data;
  const answer = answerOfSchema(schema);
  // A field without a valid name can't be saved, so it is kept here.
  const [draft, setDraft] = useState<Answer>();
  const shownAnswer = draft ?? answer;
  if (!shownAnswer)
    return (
      <div className="flex flex-col gap-2">
        <JsonInput
          label={ANSWER_FORM.responseFormat}
          hint={ANSWER_FORM.schemaTooRich}
          value={schema}
          disabled={disabled}
          onChange={(value) => set(["schema"], value)}
          rows={10}
        />
        <Button
          size="sm"
          className="self-start"
          disabled={disabled}
          onClick={() => set(["schema"], undefined, ANSWER_FORM.respondWithText)}
        >
          {ANSWER_FORM.useText}
        </Button>
      </div>
    );
  const write = (next: Answer): void => {
    const isWhole = next.fields.every(
      (field, index) => nameProblem(next.fields, index) === undefined && (field.type !== "choice" || field.choices.length > 0),
    );
    setDraft(isWhole ? undefined : next);
    if (isWhole) set(["schema"], schemaOfAnswer(next), ANSWER_FORM.editResponse);
  };
  const shape = (to: Answer["shape"]): void => {
    if (to === "text") return write(TEXT_ANSWER);
    const fields = shownAnswer.fields.length > 0 || to === "list" ? shownAnswer.fields : FIRST;
    write({ ...shownAnswer, shape: to, fields, ...(to === "list" && shownAnswer.most === undefined ? { least: 3, most: 3 } : {}) });
  };
  const ofFields = shownAnswer.fields.length > 0;
  return (
    <section className="flex flex-col gap-3 rounded-xl bg-sunken p-3" aria-label={ANSWER_FORM.response}>
      <SelectField
        label={ANSWER_FORM.responseFormat}
        hint={shownAnswer.shape === "text" ? undefined : ANSWER_FORM.portHint}
        disabled={disabled}
        value={shownAnswer.shape}
        onText={(text) => shape(text as Answer["shape"])}
        options={SHAPES}
      />
      {shownAnswer.shape === "list" && (
        <>
          <ListBounds answer={shownAnswer} disabled={disabled} write={write} />
          <SelectField
            label={ANSWER_FORM.itemType}
            disabled={disabled}
            value={ofFields ? "fields" : "text"}
            onText={(text) => write({ ...shownAnswer, fields: text === "fields" ? FIRST : [] })}
          >
            <option value="text">{COMMON.text}</option>
            <option value="fields">{ANSWER_FORM.fields}</option>
          </SelectField>
        </>
      )}
      {shownAnswer.shape !== "text" && (shownAnswer.shape === "fields" || ofFields) && (
        <AnswerFields fields={shownAnswer.fields} disabled={disabled} write={(fields) => write({ ...shownAnswer, fields })} />
      )}
    </section>
  );
};
