import { isRecord, type JsonSchema } from "@nodeloom/kernel/graph";
import { Plus, Trash2 } from "lucide-react";
import { kindOf } from "../../canvas/kinds";
import type { DocNode } from "../../document/graph";
import { Button, IconButton } from "../../ui/button";
import { InputField, SelectField } from "../../ui/inputs/field";
import { useSetting } from "./use-setting";

/** Maximum cases and operators from the kernel's table. */
const rulesOf = ({ type }: DocNode): { most: number; operators: string[] } => {
  const schema = kindOf(type).rules!.settings.cases as JsonSchema & { maxItems: number };
  return { most: schema.maxItems, operators: ((schema.items as JsonSchema).properties as { op: { enum: string[] } }).op.enum };
};

const WORDS: Readonly<Record<string, string>> = {
  equals: "is",
  notEquals: "is not",
  contains: "contains",
  matches: "matches the pattern",
  greater: "is greater than",
  less: "is less than",
  exists: "is there",
  empty: "is empty",
};
const ALONE: ReadonlySet<string> = new Set(["exists", "empty"]);

const text = (value: unknown): string => (value === undefined || value === null ? "" : String(value as string | number | boolean));

const freeName = (cases: readonly Record<string, unknown>[]): string => {
  const taken = new Set(cases.map(({ name }) => name));
  let number = cases.length + 1;
  while (taken.has(`case ${number}`)) number += 1;
  return `case ${number}`;
};

export const SwitchForm = ({ node }: { node: DocNode }) => {
  const { set, disabled } = useSetting(node);
  const { most, operators } = rulesOf(node);
  const cases = (Array.isArray(node.data.cases) ? node.data.cases : []).filter(isRecord);
  const write = (next: Record<string, unknown>[], label: string): void => set(["cases"], next, label);
  const change = (at: number, part: Record<string, unknown>): void =>
    write(
      cases.map((one, index) => (index === at ? { ...one, ...part } : one)),
      "Edit case",
    );
  return (
    <div className="flex flex-col gap-3">
      <p className="text-xs text-faint">
        The value leaves by the first case that is true, or by “else”. What stands behind the others is skipped and costs nothing. Write{" "}
        {"{{name}}"} for what flows in: it becomes a port; {"{{value}}"} is the value itself.
      </p>
      {cases.map((one, index) => {
        const op = text(one.op);
        return (
          <fieldset key={index} className="flex flex-col gap-2 rounded-md border border-line p-2" disabled={disabled}>
            <legend className="px-1 text-xs text-faint">Case {index + 1}</legend>
            <div className="flex items-end gap-1">
              <InputField label="Port" maxLength={80} value={text(one.name)} onText={(text) => change(index, { name: text })} />
              <IconButton
                icon={Trash2}
                label={`Remove case ${index + 1}`}
                onClick={() =>
                  write(
                    cases.filter((_, at) => at !== index),
                    "Remove case",
                  )
                }
              />
            </div>
            <InputField label="When" value={text(one.left)} onText={(text) => change(index, { left: text })} />
            <SelectField
              label="Comparison"
              value={op}
              onText={(text) => change(index, { op: text })}
              options={operators.map((name) => [name, WORDS[name] ?? name])}
            />
            {ALONE.has(op) || (
              <InputField label="Compared with" value={text(one.right)} onText={(text) => change(index, { right: text })} />
            )}
          </fieldset>
        );
      })}
      <Button
        icon={Plus}
        disabled={disabled || cases.length >= most}
        onClick={() => write([...cases, { name: freeName(cases), left: "{{value}}", op: "equals", right: "" }], "Add case")}
      >
        Add a case
      </Button>
    </div>
  );
};
