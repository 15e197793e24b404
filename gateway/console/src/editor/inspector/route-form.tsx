import type { Model } from "@nodeloom/client";
import { ChevronRight } from "lucide-react";
import { useState } from "react";
import type { DocNode } from "../../document/graph";
import { ROUTE_FORM } from "../../messages/editor/inspector";
import { Check, SelectField } from "../../ui/inputs/field";
import { NumberField } from "../../ui/inputs/value-inputs";
import { useEditor } from "../context";
import { useSetting } from "./use-setting";

const isName = (value: unknown): value is string => typeof value === "string";
const PREFERENCES = ["cheapest", "fastest", "best"] as const;

/** Settings that choose the model of a task: preference, allowed models, and a limit on the price of a call. */
export const RouteForm = ({ node, task }: { node: DocNode; task: string }) => {
  const { models } = useEditor();
  const { set, disabled } = useSetting(node);
  const { prefer, allow, maxCredits } = node.data;
  const allowed = Array.isArray(allow) ? allow.filter(isName) : [];
  const [isOpen] = useState(allowed.length > 0 || maxCredits !== undefined);
  const fitting = models.filter((model: Model) => model.enabled && model.tasks.some((one) => one === task));
  const gone = allowed.filter((name) => fitting.every(({ internalName }) => internalName !== name));
  const options: [string, string][] = [
    ...fitting.map(({ internalName, displayName }): [string, string] => [internalName, displayName]),
    ...gone.map((name): [string, string] => [name, ROUTE_FORM.notForTask(name)]),
  ];
  const toggle = (name: string, isOn: boolean): void => {
    const next = isOn ? [...allowed, name] : allowed.filter((one) => one !== name);
    set(["allow"], next.length === 0 ? undefined : next, ROUTE_FORM.allowedModels);
  };
  return (
    <>
      <SelectField
        label={ROUTE_FORM.prefer}
        hint={ROUTE_FORM.preferHint}
        disabled={disabled}
        value={isName(prefer) ? prefer : ""}
        onText={(text) => set(["prefer"], text === "" ? undefined : text, ROUTE_FORM.prefer)}
        options={[["", ROUTE_FORM.firstInOrder], ...PREFERENCES.map((one) => [one, ROUTE_FORM[one]] as const)]}
      />
      <details className="group" open={isOpen}>
        <summary className="flex items-center gap-1 text-[13px] font-medium text-muted">
          <ChevronRight className="size-4 transition-transform group-open:rotate-90" aria-hidden /> {ROUTE_FORM.limits}
        </summary>
        <div className="mt-3 flex flex-col gap-4">
          <fieldset className="flex flex-col gap-1.5" disabled={disabled}>
            <legend className="mb-1 text-[13px] font-medium">{ROUTE_FORM.allowedModels}</legend>
            {options.map(([name, title]) => (
              <Check key={name} label={title} checked={allowed.includes(name)} onCheck={(isOn) => toggle(name, isOn)} />
            ))}
            <p className="text-xs text-faint">{allowed.length === 0 ? ROUTE_FORM.allAllowed : ROUTE_FORM.onlyThese}</p>
          </fieldset>
          <NumberField
            label={ROUTE_FORM.maxCredits}
            hint={ROUTE_FORM.maxCreditsHint}
            disabled={disabled}
            value={typeof maxCredits === "number" ? maxCredits : undefined}
            onChange={(value) => set(["maxCredits"], value, ROUTE_FORM.maxCredits)}
          />
        </div>
      </details>
    </>
  );
};
