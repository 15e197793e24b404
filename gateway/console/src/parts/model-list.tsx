import type { Model } from "@nodeloom/client";
import { LIMITS } from "@nodeloom/kernel/limits";
import { Plus, X } from "lucide-react";
import { Button, IconButton } from "../ui/button";
import { Select } from "../ui/inputs/field";
import { MODEL_LIST } from "../messages/model-parts";

interface ModelListProps {
  /** Names of models in fallback order. */
  names: readonly string[];
  /** Models that can be added. */
  fitting: readonly Model[];
  disabled?: boolean | undefined;
  onChange: (names: string[]) => void;
}

export const ModelList = ({ names, fitting, disabled = false, onChange }: ModelListProps) => {
  const free = fitting.filter(({ internalName }) => !names.includes(internalName));
  return (
    <fieldset className="flex flex-col gap-1.5">
      <legend className="mb-1 text-[13px] font-medium">{MODEL_LIST.fallbackModels}</legend>
      {names.map((name, index) => (
        <div key={name} className="flex items-center gap-1">
          <Select
            aria-label={MODEL_LIST.fallbackModel(index + 1)}
            disabled={disabled}
            value={name}
            onText={(text) => onChange(names.map((one, at) => (at === index ? text : one)))}
            options={fitting
              .filter(({ internalName }) => internalName === name || free.some((one) => one.internalName === internalName))
              .map(({ internalName, displayName }) => [internalName, displayName])}
          >
            {!fitting.some(({ internalName }) => internalName === name) && <option value={name}>{MODEL_LIST.notAvailable(name)}</option>}
          </Select>
          <IconButton
            icon={X}
            size="sm"
            label={MODEL_LIST.remove(name)}
            disabled={disabled}
            onClick={() => onChange(names.filter((one) => one !== name))}
          />
        </div>
      ))}
      {names.length < LIMITS.fallbackModels && free[0] && (
        <Button
          size="sm"
          icon={Plus}
          disabled={disabled}
          className="self-start"
          onClick={() => onChange([...names, free[0]!.internalName])}
        >
          {names.length === 0 ? MODEL_LIST.add : MODEL_LIST.addAnother}
        </Button>
      )}
      <p className="text-xs text-faint">{MODEL_LIST.hint}</p>
    </fieldset>
  );
};
