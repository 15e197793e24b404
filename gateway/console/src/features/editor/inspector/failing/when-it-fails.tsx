import { LIMITS } from "@nodeloom/kernel/limits";
import { Plus, X } from "lucide-react";
import { kindOf } from "../../../../canvas/kinds";
import type { DocNode } from "../../../../document/graph";
import { Button, IconButton } from "../../../../ui/button";
import { Check, Select } from "../../../../ui/inputs/field";
import { useEditor } from "../../context";
import { useSetting } from "../use-setting";

/** What a node does where one of its calls fails: other models in the place of its own, and items that are left out. */

const FALLBACK = "fallback";
const ON_ITEM_ERROR = "onItemError";

const namesOf = ({ data }: DocNode): string[] =>
  Array.isArray(data[FALLBACK]) ? data[FALLBACK].filter((name): name is string => typeof name === "string") : [];

const Fallback = ({ node }: { node: DocNode }) => {
  const { models } = useEditor();
  const { set, disabled } = useSetting(node);
  const names = namesOf(node);
  const { modality } = kindOf(node.type);
  const fitting = models.filter((model) => model.modality === modality && model.enabled && model.internalName !== node.data.model);
  const free = fitting.filter(({ internalName }) => !names.includes(internalName));
  const change = (next: string[]): void => set([FALLBACK], next.length === 0 ? undefined : next, "Choose models in its place");
  return (
    <fieldset className="flex flex-col gap-1.5">
      <legend className="mb-1 text-[13px] font-medium">Where its model fails</legend>
      {names.map((name, index) => (
        <div key={name} className="flex items-center gap-1">
          <Select
            aria-label={`Model ${index + 1} in its place`}
            disabled={disabled}
            value={name}
            onChange={(event) => change(names.map((one, at) => (at === index ? event.target.value : one)))}
          >
            {!fitting.some(({ internalName }) => internalName === name) && <option value={name}>{name} (not available)</option>}
            {fitting
              .filter(({ internalName }) => internalName === name || free.some((one) => one.internalName === internalName))
              .map(({ internalName, displayName }) => (
                <option key={internalName} value={internalName}>
                  {displayName}
                </option>
              ))}
          </Select>
          <IconButton
            icon={X}
            size="sm"
            label={`Without ${name}`}
            disabled={disabled}
            onClick={() => change(names.filter((one) => one !== name))}
          />
        </div>
      ))}
      {names.length < LIMITS.fallbackModels && free[0] && (
        <Button size="sm" icon={Plus} disabled={disabled} className="self-start" onClick={() => change([...names, free[0]!.internalName])}>
          {names.length === 0 ? "Call another model then" : "Then another one"}
        </Button>
      )}
      <p className="text-xs text-faint">
        Called in this order where the one before refuses, is away or fails. The dearest is held; what was used is charged.
      </p>
    </fieldset>
  );
};

const SkipFailed = ({ node }: { node: DocNode }) => {
  const { set, disabled } = useSetting(node);
  return (
    <Check
      label="Leave out items that fail"
      hint="Of a list: the run goes on with the others. Failed items are free."
      disabled={disabled}
      checked={node.data[ON_ITEM_ERROR] === "skip"}
      onChange={(event) => set([ON_ITEM_ERROR], event.target.checked ? "skip" : undefined)}
    />
  );
};

/** Those of the settings that the node's kind has. */
export const WhenItFails = ({ node }: { node: DocNode }) => {
  const settings = kindOf(node.type).rules?.settings ?? {};
  return (
    <>
      {FALLBACK in settings && <Fallback node={node} />}
      {ON_ITEM_ERROR in settings && <SkipFailed node={node} />}
    </>
  );
};
