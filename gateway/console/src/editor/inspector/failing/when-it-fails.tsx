import { kindOf } from "../../../canvas/kinds";
import type { DocNode } from "../../../document/graph";
import { ModelList } from "../../../parts/model-list";
import { Check } from "../../../ui/inputs/field";
import { useEditor } from "../../context";
import { useSetting } from "../use-setting";
import { WHEN_IT_FAILS } from "../../../messages/editor/inspector";

/** Behaviour on failed calls: fallback models and left-out items. */

const FALLBACK = "fallback";
const ON_ITEM_ERROR = "onItemError";
const ON_RETIRED = "onRetired";

const namesOf = ({ data }: DocNode): string[] =>
  Array.isArray(data[FALLBACK]) ? data[FALLBACK].filter((name): name is string => typeof name === "string") : [];

const Fallback = ({ node }: { node: DocNode }) => {
  const { models } = useEditor();
  const { set, disabled } = useSetting(node);
  const names = namesOf(node);
  const { modality } = kindOf(node.type);
  const fitting = models.filter((model) => model.modality === modality && model.enabled && model.internalName !== node.data.model);
  const change = (next: string[]): void => set([FALLBACK], next.length === 0 ? undefined : next, WHEN_IT_FAILS.chooseFallbackModels);
  return <ModelList names={names} fitting={fitting} disabled={disabled} onChange={change} />;
};

const SkipFailed = ({ node }: { node: DocNode }) => {
  const { set, disabled } = useSetting(node);
  return (
    <Check
      label={WHEN_IT_FAILS.skipFailedItems}
      hint={WHEN_IT_FAILS.continueHint}
      disabled={disabled}
      checked={node.data[ON_ITEM_ERROR] === "skip"}
      onCheck={(isOn) => set([ON_ITEM_ERROR], isOn ? "skip" : undefined)}
    />
  );
};

const TakeSuccessor = ({ node }: { node: DocNode }) => {
  const { set, disabled } = useSetting(node);
  return (
    <Check
      label={WHEN_IT_FAILS.useTheSuccessor}
      hint={WHEN_IT_FAILS.useSuccessor}
      disabled={disabled}
      checked={node.data[ON_RETIRED] === "successor"}
      onCheck={(isOn) => set([ON_RETIRED], isOn ? "successor" : undefined)}
    />
  );
};

/** Shows only settings that the node's kind has. */
export const WhenItFails = ({ node }: { node: DocNode }) => {
  const settings = kindOf(node.type).rules?.settings ?? {};
  return (
    <>
      {FALLBACK in settings && <Fallback node={node} />}
      {ON_ITEM_ERROR in settings && <SkipFailed node={node} />}
      {ON_RETIRED in settings && <TakeSuccessor node={node} />}
    </>
  );
};
