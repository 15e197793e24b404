import { useLayoutEffect, useRef, type KeyboardEvent } from "react";
import type { NodeSetting } from "../../../canvas/settings";
import { NODE_SETTINGS } from "../../../messages/editor/models";

interface FieldProps {
  setting: NodeSetting;
  onSet: (value: unknown) => void;
  onEnd: () => void;
}

const Choices = ({ setting: { label, schema, value }, onSet, onEnd }: FieldProps) => {
  const field = useRef<HTMLSelectElement>(null);
  useLayoutEffect(() => {
    try {
      field.current?.showPicker();
    } catch {
      // Browsers without `showPicker` open the list on the next click.
    }
  }, []);
  return (
    <select
      ref={field}
      autoFocus
      aria-label={label}
      className="node-setting-field nodrag nopan"
      value={value === undefined ? "" : JSON.stringify(value)}
      onChange={({ target }) => {
        onSet(target.value === "" ? undefined : (JSON.parse(target.value) as unknown));
        onEnd();
      }}
      onBlur={onEnd}
      onKeyDown={(event) => event.stopPropagation()}
    >
      <option value="">
        {schema.default === undefined ? NODE_SETTINGS.auto : NODE_SETTINGS.byDefault(String(schema.default as string))}
      </option>
      {(schema.enum as (string | number)[]).map((option) => (
        <option key={option} value={JSON.stringify(option)}>
          {option}
        </option>
      ))}
    </select>
  );
};

/** Enter and leaving the field keep the typed text; Escape discards it. */
const Typed = ({ setting: { label, schema, value }, onSet, onEnd }: FieldProps) => {
  const field = useRef<HTMLInputElement>(null);
  const isNumber = schema.type !== "string";
  useLayoutEffect(() => field.current?.select(), []);
  const keep = (): void => {
    const typed = field.current?.value.trim() ?? "";
    const next = typed === "" ? undefined : isNumber ? Number(typed) : typed;
    if (next !== value && !Number.isNaN(next)) onSet(next);
    onEnd();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    event.stopPropagation();
    if (event.key === "Enter") keep();
    if (event.key === "Escape") onEnd();
  };
  return (
    <input
      ref={field}
      autoFocus
      aria-label={label}
      inputMode={isNumber ? "decimal" : "text"}
      placeholder={label}
      defaultValue={value === undefined ? "" : String(value as string | number)}
      className="node-setting-field nodrag nopan"
      onBlur={keep}
      onKeyDown={onKeyDown}
    />
  );
};

export const NodeSettingField = (props: FieldProps) =>
  Array.isArray(props.setting.schema.enum) ? <Choices {...props} /> : <Typed {...props} />;
