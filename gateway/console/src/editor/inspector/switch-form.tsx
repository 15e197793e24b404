import { isRecord, type JsonSchema } from "@nodeloom/kernel/graph";
import { Plus, Trash2 } from "lucide-react";
import { kindOf } from "../../canvas/kinds";
import type { DocNode } from "../../document/graph";
import { Button, IconButton } from "../../ui/button";
import { InputField, SelectField } from "../../ui/inputs/field";
import { useSetting } from "./use-setting";
import { COMMON } from "../../messages/common";
import { SWITCH_FORM } from "../../messages/editor/inspector";

/** Maximum number of cases, and operators, from the kernel's table. */
const rulesOf = ({ type }: DocNode): { most: number; operators: string[] } => {
  const schema = kindOf(type).rules!.settings.cases as JsonSchema & { maxItems: number };
  return { most: schema.maxItems, operators: ((schema.items as JsonSchema).properties as { op: { enum: string[] } }).op.enum };
};

const WORDS: Readonly<Record<string, string>> = {
  equals: "is",
  notEquals: SWITCH_FORM.isNot,
  contains: "contains",
  matches: SWITCH_FORM.matchesPattern,
  greater: SWITCH_FORM.isGreaterThan,
  less: SWITCH_FORM.isLessThan,
  exists: SWITCH_FORM.exists,
  empty: SWITCH_FORM.isEmpty,
};
const ALONE: ReadonlySet<string> = new Set(["exists", "empty"]);

const text = (value: unknown): string => (value === undefined || value === null ? "" : String(value as string | number | boolean));

const freeName = (cases: readonly Record<string, unknown>[]): string => {
  const takenNames = new Set(cases.map(({ name }) => name));
  let number = cases.length + 1;
  while (takenNames.has(SWITCH_FORM.case(number))) number += 1;
  return SWITCH_FORM.case(number);
};

export const SwitchForm = ({ node }: { node: DocNode }) => {
  const { set, disabled } = useSetting(node);
  const { most, operators } = rulesOf(node);
  const cases = (Array.isArray(node.data.cases) ? node.data.cases : []).filter(isRecord);
  const write = (next: Record<string, unknown>[], label: string): void => set(["cases"], next, label);
  const change = (at: number, part: Record<string, unknown>): void =>
    write(
      cases.map((one, index) => (index === at ? { ...one, ...part } : one)),
      SWITCH_FORM.editCase,
    );
  return (
    <div className="flex flex-col gap-3">
      <p className="text-xs text-faint">{SWITCH_FORM.intro}</p>
      {cases.map((one, index) => {
        const op = text(one.op);
        return (
          <fieldset key={index} className="flex flex-col gap-2 rounded-md border border-line p-2" disabled={disabled}>
            <legend className="px-1 text-xs text-faint">{SWITCH_FORM.numberedCase(index + 1)}</legend>
            <div className="flex items-end gap-1">
              <InputField label={SWITCH_FORM.port} maxLength={80} value={text(one.name)} onText={(text) => change(index, { name: text })} />
              <IconButton
                icon={Trash2}
                label={SWITCH_FORM.removeCase(index + 1)}
                onClick={() =>
                  write(
                    cases.filter((_, at) => at !== index),
                    SWITCH_FORM.removeThisCase,
                  )
                }
              />
            </div>
            <InputField label={SWITCH_FORM.when} value={text(one.left)} onText={(text) => change(index, { left: text })} />
            <SelectField
              label={SWITCH_FORM.comparison}
              value={op}
              onText={(text) => change(index, { op: text })}
              options={operators.map((name) => [name, WORDS[name] ?? name])}
            />
            {ALONE.has(op) || <InputField label={COMMON.value} value={text(one.right)} onText={(text) => change(index, { right: text })} />}
          </fieldset>
        );
      })}
      <Button
        icon={Plus}
        disabled={disabled || cases.length >= most}
        onClick={() => write([...cases, { name: freeName(cases), left: "{{value}}", op: "equals", right: "" }], SWITCH_FORM.addCase)}
      >
        {SWITCH_FORM.addCase}
      </Button>
    </div>
  );
};
