import { Dices } from "lucide-react";
import { useState } from "react";
import { Button } from "../../ui/button";
import { AreaField, Check, Field, InputField, Select, SelectField } from "../../ui/inputs/field";
import { randomSeeds, typedValues, type Axis, type Setting } from "./axes";
import { AXIS_FORM } from "../../messages/editor/sweep";

/** Initial number of seeds. */
const SEEDS = 4;
const MOST_SEEDS = 12;

interface ValuesProps {
  setting: Setting;
  values: readonly unknown[];
  onChange: (values: readonly unknown[]) => void;
}

const Choices = ({ setting: { title, options }, values, onChange }: ValuesProps) => (
  <fieldset className="min-w-0">
    <legend className="mb-1 text-[13px] font-medium">{AXIS_FORM.valuesOf(title)}</legend>
    <div className="grid max-h-44 gap-1.5 overflow-y-auto sm:grid-cols-2">
      {options.map(({ value, title: name }) => (
        <Check
          key={JSON.stringify(value)}
          label={name}
          checked={values.includes(value)}
          onCheck={(isOn) =>
            onChange(options.flatMap((one) => ((one.value === value ? isOn : values.includes(one.value)) ? [one.value] : [])))
          }
        />
      ))}
    </div>
  </fieldset>
);

const Seeds = ({ setting, values, onChange }: ValuesProps) => (
  <Field label={AXIS_FORM.numberOfSeeds} hint={values.map(String).join(", ")}>
    {(attributes) => (
      <div className="flex gap-2">
        <Select {...attributes} className="w-24!" value={values.length} onText={(text) => onChange(randomSeeds(setting, Number(text)))}>
          {Array.from({ length: MOST_SEEDS - 1 }, (_, index) => (
            <option key={index}>{index + 2}</option>
          ))}
        </Select>
        <Button icon={Dices} onClick={() => onChange(randomSeeds(setting, values.length))}>
          {AXIS_FORM.otherValues}
        </Button>
      </div>
    )}
  </Field>
);

const Typed = ({ setting, onChange }: ValuesProps) => {
  const [typed, setTyped] = useState("");
  const { problem } = typedValues(setting, typed);
  const write = (text: string): void => {
    setTyped(text);
    onChange(typedValues(setting, text).values);
  };
  const label = AXIS_FORM.valuesOf(setting.title);
  if (setting.kind === "text") return <AreaField label={label} hint={AXIS_FORM.onePerLine} rows={3} value={typed} onText={write} />;
  return (
    <InputField
      label={label}
      hint={AXIS_FORM.numbersHint}
      error={problem}
      inputMode="decimal"
      placeholder="1, 2, 4"
      value={typed}
      onText={write}
    />
  );
};

const FORMS = { choice: Choices, seed: Seeds, number: Typed, text: Typed } as const;

export const axisOf = (setting: Setting): Axis => ({ setting, values: setting.kind === "seed" ? randomSeeds(setting, SEEDS) : [] });

export const AxisForm = ({
  label,
  settings,
  axis,
  isOptional,
  onChange,
}: {
  label: string;
  settings: readonly Setting[];
  axis: Axis | undefined;
  isOptional: boolean;
  onChange: (axis: Axis | undefined) => void;
}) => {
  const Values = axis && FORMS[axis.setting.kind];
  return (
    <div className="flex min-w-0 flex-col gap-3">
      <SelectField
        label={label}
        value={axis?.setting.name ?? ""}
        onChange={({ target }) => {
          const setting = settings.find(({ name }) => name === target.value);
          onChange(setting && axisOf(setting));
        }}
        options={settings.map(({ name, title }) => [name, title])}
      >
        {(isOptional || axis === undefined) && (
          <option value="">{isOptional ? AXIS_FORM.noSecondSetting : AXIS_FORM.chooseASetting}</option>
        )}
      </SelectField>
      {axis && Values && (
        <Values key={axis.setting.name} setting={axis.setting} values={axis.values} onChange={(values) => onChange({ ...axis, values })} />
      )}
    </div>
  );
};
