import { Plus, Trash2 } from "lucide-react";
import { retyped, type AnswerField, type FieldType } from "../../runs/answers/schema-form";
import { Button, IconButton } from "../../ui/button";
import { Input, Select } from "../../ui/inputs/field";
import { COMMON } from "../../messages/common";
import { ANSWER_FIELDS } from "../../messages/editor/inspector";

const TYPES: readonly (readonly [FieldType, string])[] = [
  ["text", COMMON.text],
  ["number", ANSWER_FIELDS.number],
  ["whole", ANSWER_FIELDS.wholeNumber],
  ["boolean", ANSWER_FIELDS.yesOrNo],
  ["texts", ANSWER_FIELDS.listOfTexts],
  ["choice", ANSWER_FIELDS.oneOf],
];

const freeName = (fields: readonly AnswerField[]): string => {
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? "field" : ANSWER_FIELDS.field(number);
    if (!fields.some((field) => field.name === name)) return name;
  }
};

/** Reason why a field can't have this name; undefined if it can. */
export const nameProblem = (fields: readonly AnswerField[], index: number): string | undefined => {
  const { name } = fields[index]!;
  if (name.trim() === "") return ANSWER_FIELDS.enterAName;
  return fields.some((field, at) => at !== index && field.name === name) ? ANSWER_FIELDS.nameTaken : undefined;
};

interface RowProps {
  fields: readonly AnswerField[];
  index: number;
  disabled: boolean;
  change: (field: Partial<AnswerField>) => void;
  retype: (type: FieldType) => void;
  remove: () => void;
}

const FieldRow = ({ fields, index, disabled, change, retype, remove }: RowProps) => {
  const { name, type, choices, description } = fields[index]!;
  const problem = nameProblem(fields, index);
  return (
    <li className="flex flex-col gap-1.5 rounded-xl border p-2">
      <div className="flex items-start gap-1.5">
        <Input
          aria-label={ANSWER_FIELDS.nameOfField(index + 1)}
          aria-invalid={problem === undefined ? undefined : true}
          spellCheck={false}
          disabled={disabled}
          value={name}
          onText={(text) => change({ name: text })}
        />
        <Select
          aria-label={ANSWER_FIELDS.typeOfField(index + 1)}
          className="w-36!"
          disabled={disabled}
          value={type}
          onText={(text) => retype(text as FieldType)}
          options={TYPES}
        />
        <IconButton icon={Trash2} label={ANSWER_FIELDS.removeField(index + 1)} disabled={disabled} onClick={remove} />
      </div>
      {problem !== undefined && (
        <p role="alert" className="text-xs text-bad">
          {problem}
        </p>
      )}
      {type === "choice" && (
        <Input
          aria-label={ANSWER_FIELDS.choicesOfField(index + 1)}
          placeholder={ANSWER_FIELDS.calmPlayfulDark}
          disabled={disabled}
          defaultValue={choices.join(", ")}
          onText={(text) =>
            change({
              choices: text
                .split(",")
                .map((choice) => choice.trim())
                .filter(Boolean),
            })
          }
        />
      )}
      <Input
        aria-label={ANSWER_FIELDS.descriptionOfField(index + 1)}
        placeholder={ANSWER_FIELDS.description}
        disabled={disabled}
        value={description}
        onText={(text) => change({ description: text })}
      />
    </li>
  );
};

export const AnswerFields = ({
  fields,
  disabled,
  write,
}: {
  fields: readonly AnswerField[];
  disabled: boolean;
  write: (fields: readonly AnswerField[]) => void;
}) => (
  <div className="flex flex-col gap-2">
    <ul className="flex flex-col gap-2" aria-label={ANSWER_FIELDS.fieldsOfTheResponse}>
      {fields.map((_, index) => (
        <FieldRow
          key={index}
          fields={fields}
          index={index}
          disabled={disabled}
          change={(field) => write(fields.map((one, at) => (at === index ? { ...one, ...field } : one)))}
          retype={(type) => write(fields.map((one, at) => (at === index ? retyped(one, type) : one)))}
          remove={() => write(fields.filter((__, at) => at !== index))}
        />
      ))}
    </ul>
    <Button
      size="sm"
      icon={Plus}
      className="self-start"
      disabled={disabled}
      onClick={() => write([...fields, { name: freeName(fields), type: "text", choices: [], description: "" }])}
    >
      {ANSWER_FIELDS.addAField}
    </Button>
  </div>
);
