import { isRecord, LOOP_BOUNDS } from "@nodeloom/kernel/graph";
import type { DocNode } from "../../../document/graph";
import { InputField, SelectField } from "../../../ui/inputs/field";
import { NumberField } from "../../../ui/inputs/value-inputs";
import { useSetting } from "../use-setting";
import { InnerChoice, InnerFields, slugOf, useInner } from "./workflow-form";
import { LOOP_FORM } from "../../../messages/editor/inspector";

/** Chooses for each output the input that it becomes in the next turn. */
const Feedback = ({ node, outputs, inputs }: { node: DocNode; outputs: readonly string[]; inputs: readonly string[] }) => {
  const { set, disabled } = useSetting(node);
  const feedback = isRecord(node.data.feedback) ? node.data.feedback : {};
  // A name that the workflow doesn't have stays visible, so that it can be removed.
  const all = [...new Set([...outputs, ...Object.keys(feedback)])];
  return all.map((output) => {
    const input = typeof feedback[output] === "string" ? feedback[output] : "";
    const { [output]: _, ...others } = feedback;
    const names = input === "" || inputs.includes(input) ? inputs : [...inputs, input];
    return (
      <SelectField
        key={output}
        label={LOOP_FORM.becomes(output)}
        disabled={disabled}
        value={input}
        onText={(text) => set(["feedback"], text === "" ? others : { ...others, [output]: text }, LOOP_FORM.editFeedback)}
        options={[["", LOOP_FORM.notUsed], ...names.map((name): [string, string] => [name, name])]}
      />
    );
  });
};

/** Form of a loop: workflow, end, feedback and the values of the first turn. */
export const LoopForm = ({ node }: { node: DocNode }) => {
  const { set, disabled } = useSetting(node);
  const inner = useInner(slugOf(node)).data;
  const { count, until } = node.data;
  return (
    <div className="flex flex-col gap-4">
      <InnerChoice node={node} />
      <NumberField
        label={LOOP_FORM.count}
        hint={LOOP_FORM.countHint(LOOP_BOUNDS.turns)}
        disabled={disabled}
        value={count}
        onChange={(value) => set(["count"], value)}
      />
      <InputField
        label={LOOP_FORM.until}
        hint={LOOP_FORM.untilHint}
        disabled={disabled}
        spellCheck={false}
        className="font-mono text-xs!"
        value={typeof until === "string" ? until : ""}
        onText={(text) => set(["until"], text === "" ? undefined : text)}
      />
      {inner && (
        <section aria-label={LOOP_FORM.feedback} className="flex flex-col gap-3">
          <div>
            <h3 className="text-xs font-medium text-muted">{LOOP_FORM.feedback}</h3>
            <p className="text-xs text-faint">{LOOP_FORM.feedbackHint}</p>
          </div>
          <Feedback node={node} outputs={inner.ports.outputs.map(({ name }) => name)} inputs={inner.ports.inputs.map(({ name }) => name)} />
        </section>
      )}
      <InnerFields node={node} fields={inner?.fields ?? []} />
    </div>
  );
};
