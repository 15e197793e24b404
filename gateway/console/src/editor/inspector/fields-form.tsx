import { FIELD_TYPES, isRecord, maxFiles, uploadType } from "@nodeloom/kernel/graph";
import { ArrowDown, ArrowUp, Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import type { DocNode } from "../../document/graph";
import { Button, IconButton } from "../../ui/button";
import { AreaField, Check, InputField, SelectField } from "../../ui/inputs/field";
import { JsonInput, NumberField } from "../../ui/inputs/value-inputs";
import { useSetting } from "./use-setting";
import { COMMON } from "../../messages/common";
import { FIELDS_FORM } from "../../messages/editor/inspector";

const TYPE_NAMES: Readonly<Record<string, string>> = {
  text: COMMON.text,
  textarea: FIELDS_FORM.longText,
  number: FIELDS_FORM.number,
  boolean: FIELDS_FORM.yesOrNo,
  select: FIELDS_FORM.choice,
  image_upload: FIELDS_FORM.image,
  mask_upload: FIELDS_FORM.mask,
  video_upload: FIELDS_FORM.video,
  audio_upload: FIELDS_FORM.audio,
  model3d_upload: FIELDS_FORM.model3d,
  json: "JSON",
};

type RawField = Record<string, unknown>;

const text = (value: unknown): string => (typeof value === "string" ? value : "");

const DefaultControl = ({ field, change, disabled }: { field: RawField; change: (next: RawField) => void; disabled: boolean }) => {
  const set = (value: unknown): void => change({ ...field, default: value });
  switch (field.type) {
    case "number":
      return <NumberField label={FIELDS_FORM.default} disabled={disabled} value={field.default} onChange={set} />;
    case "boolean":
      return <Check label={FIELDS_FORM.onByDefault} disabled={disabled} checked={field.default === true} onCheck={set} />;
    case "json":
      return <JsonInput label={FIELDS_FORM.default} value={field.default} disabled={disabled} onChange={set} rows={3} />;
    case "image_upload":
    case "mask_upload":
    case "video_upload":
    case "audio_upload":
    case "model3d_upload":
      return null;
    default:
      return (
        <AreaField
          label={FIELDS_FORM.default}
          rows={field.type === "textarea" ? 3 : 1}
          disabled={disabled}
          value={text(field.default)}
          onText={(text) => set(text === "" ? undefined : text)}
        />
      );
  }
};

/** A name field. Invalid names are reported, and the previous one is kept. */
const NameInput = ({ value, usedNames, disabled, autoFocus, onChange }: NameInputProps) => {
  const [typed, setTyped] = useState<string>();
  const shownName = typed ?? value;
  const error = shownName === "" ? FIELDS_FORM.enterAName : usedNames.has(shownName) ? FIELDS_FORM.nameTaken : undefined;
  return (
    <InputField
      label={COMMON.name}
      hint={FIELDS_FORM.nameHint}
      error={typed === undefined ? undefined : error}
      disabled={disabled}
      value={shownName}
      autoFocus={autoFocus}
      maxLength={100}
      spellCheck={false}
      onFocus={(event) => autoFocus && event.target.select()}
      onBlur={() => setTyped(undefined)}
      onChange={(event) => {
        const next = event.target.value;
        const fits = next !== "" && !usedNames.has(next);
        setTyped(fits ? undefined : next);
        if (fits) onChange(next);
      }}
    />
  );
};

interface NameInputProps {
  value: string;
  usedNames: ReadonlySet<unknown>;
  disabled: boolean;
  autoFocus: boolean;
  onChange: (name: string) => void;
}

interface FieldCardProps {
  field: RawField;
  index: number;
  count: number;
  disabled: boolean;
  usedNames: ReadonlySet<unknown>;
  /** True for the input added last. */
  isNew: boolean;
  change: (next: RawField) => void;
  rename: (name: string) => void;
  move: (by: number) => void;
  remove: () => void;
}

const FieldCard = ({ field, index, count, disabled, usedNames, isNew, change, rename, move, remove }: FieldCardProps) => (
  <fieldset className="flex flex-col gap-3 rounded-xl border p-3">
    <legend className="sr-only">{text(field.label) || text(field.name)}</legend>
    <div className="flex items-center justify-between">
      <span className="text-xs font-medium text-faint">{FIELDS_FORM.input(index + 1)}</span>
      <span className="flex">
        <IconButton icon={ArrowUp} label={FIELDS_FORM.moveUp} size="sm" disabled={disabled || index === 0} onClick={() => move(-1)} />
        <IconButton
          icon={ArrowDown}
          label={FIELDS_FORM.moveDown}
          size="sm"
          disabled={disabled || index === count - 1}
          onClick={() => move(1)}
        />
        <IconButton icon={Trash2} label={FIELDS_FORM.removeInput} size="sm" disabled={disabled} onClick={remove} />
      </span>
    </div>
    <div className="grid grid-cols-2 gap-3">
      <NameInput value={text(field.name)} usedNames={usedNames} disabled={disabled} autoFocus={isNew} onChange={rename} />
      <SelectField
        label={FIELDS_FORM.type}
        disabled={disabled}
        value={text(field.type) || "text"}
        onText={(text) => change({ ...field, type: text, default: undefined, multiple: undefined, maxItems: undefined })}
        options={FIELD_TYPES.map((type) => [type, TYPE_NAMES[type] ?? type])}
      />
    </div>
    <InputField label={COMMON.label} disabled={disabled} value={text(field.label)} onText={(text) => change({ ...field, label: text })} />
    {field.type === "select" && (
      <AreaField
        label={FIELDS_FORM.choices}
        hint={FIELDS_FORM.onePerLine}
        rows={3}
        disabled={disabled}
        value={Array.isArray(field.options) ? field.options.map(String).join("\n") : ""}
        onText={(text) => change({ ...field, options: text.split("\n") })}
      />
    )}
    {uploadType({ type: text(field.type) }) !== undefined && (
      <Check
        label={FIELDS_FORM.severalFiles}
        hint={FIELDS_FORM.severalFilesHint}
        disabled={disabled}
        checked={field.multiple === true}
        onCheck={(isOn) => change({ ...field, multiple: isOn || undefined, maxItems: undefined, default: undefined })}
      />
    )}
    {field.multiple === true && (
      <NumberField
        label={FIELDS_FORM.mostFiles}
        disabled={disabled}
        value={typeof field.maxItems === "number" ? field.maxItems : maxFiles({})}
        onChange={(most) => change({ ...field, maxItems: most })}
      />
    )}
    <DefaultControl field={field} change={change} disabled={disabled} />
    <Check
      label={FIELDS_FORM.required}
      disabled={disabled}
      checked={field.required === true}
      onCheck={(isOn) => change({ ...field, required: isOn || undefined })}
    />
  </fieldset>
);

/** Form of a request-input node, which defines the workflow's form and API. */
export const FieldsForm = ({ node }: { node: DocNode }) => {
  const { set, rename, disabled } = useSetting(node);
  const [added, setAdded] = useState<number>();
  const fields = (Array.isArray(node.data.fields) ? node.data.fields : []).map((field: unknown): RawField =>
    isRecord(field) ? field : {},
  );
  const write = (next: readonly RawField[]): void => set(["fields"], next, FIELDS_FORM.editInputs);
  const names = new Set(fields.map(({ name }) => name));
  const freeName = (): string => {
    for (let number = fields.length + 1; ; number += 1)
      if (!names.has(FIELDS_FORM.numberedInput(number))) return FIELDS_FORM.numberedInput(number);
  };
  const moved = (index: number, by: number): RawField[] => {
    const next = [...fields];
    const [movedField] = next.splice(index, 1);
    next.splice(index + by, 0, movedField!);
    return next;
  };
  return (
    <div className="flex flex-col gap-3">
      {fields.map((field, index) => (
        <FieldCard
          key={index}
          field={field}
          index={index}
          count={fields.length}
          disabled={disabled}
          usedNames={new Set(fields.flatMap(({ name }, at) => (at === index ? [] : [name])))}
          isNew={index === added}
          rename={(name) => rename(index, fields, name)}
          change={(next) => write(fields.map((one, at) => (at === index ? next : one)))}
          move={(by) => write(moved(index, by))}
          remove={() => write(fields.filter((_, at) => at !== index))}
        />
      ))}
      <Button
        icon={Plus}
        size="sm"
        disabled={disabled}
        className="self-start"
        onClick={() => {
          setAdded(fields.length);
          write([...fields, { name: freeName(), type: "text", label: "" }]);
        }}
      >
        {FIELDS_FORM.addInput}
      </Button>
    </div>
  );
};
