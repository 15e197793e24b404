import type { TestExpectation } from "@nodeloom/client";
import { COMMON } from "../../messages/common";
import { TEST_JUDGE } from "../../messages/editor/tests";
import { AreaField, InputField, SelectField } from "../../ui/inputs/field";
import { NumberField } from "../../ui/inputs/value-inputs";
import { useEditor } from "../context";
import type { ErrorAt } from "./error-at";
import type { JudgeExpectation } from "./expectations";

type NamedVersion = NonNullable<JudgeExpectation["against"]>;

const versionOf = (text: string): NamedVersion => (/^\d+$/.test(text.trim()) ? { version: Number(text) } : { alias: text.trim() });
const versionText = ({ version, alias }: NamedVersion): string => (version === undefined ? (alias ?? "") : String(version));

interface JudgeFieldsProps {
  judge: JudgeExpectation;
  errorAt: ErrorAt;
  onChange: (expectation: TestExpectation) => void;
}

/** A language model that grades a value by a rubric, or compares it with the value of another version. */
export const JudgeFields = ({ judge, errorAt, onChange }: JudgeFieldsProps) => {
  const { models } = useEditor();
  const set = (changes: Partial<JudgeExpectation>): void => onChange({ judge: { ...judge, ...changes } });
  const choices = models
    .filter(({ modality, enabled }) => modality === "text" && enabled)
    .map((one) => [one.internalName, one.displayName]);
  const isListed = choices.some(([name]) => name === judge.model);
  const { against } = judge;
  return (
    <div className="flex flex-col gap-3">
      <SelectField
        label={TEST_JUDGE.model}
        hint={TEST_JUDGE.modelHint}
        error={errorAt("judge.model")}
        value={judge.model}
        onText={(model) => set({ model })}
        options={[
          ["", COMMON.chooseModel],
          ...(isListed || judge.model === "" ? [] : ([[judge.model, judge.model]] as const)),
          ...(choices as [string, string][]),
        ]}
      />
      {against ? (
        <InputField
          label={TEST_JUDGE.against}
          hint={TEST_JUDGE.againstHint}
          error={errorAt("judge.against") ?? errorAt("judge.against.alias") ?? errorAt("judge.against.version")}
          value={versionText(against)}
          onText={(text) => set({ against: versionOf(text) })}
        />
      ) : (
        <AreaField
          label={TEST_JUDGE.rubric}
          hint={TEST_JUDGE.rubricHint}
          error={errorAt("judge.rubric")}
          rows={3}
          value={judge.rubric ?? ""}
          onText={(rubric) => set({ rubric })}
        />
      )}
      <div className="grid gap-3 sm:grid-cols-2">
        <NumberField
          label={against ? TEST_JUDGE.share : TEST_JUDGE.score}
          error={errorAt("judge.atLeast")}
          value={judge.atLeast}
          // The service says that an empty score is missing.
          onChange={(atLeast) => set({ atLeast: atLeast as number })}
        />
        <NumberField
          label={TEST_JUDGE.votes}
          error={errorAt("judge.votes")}
          placeholder="1"
          value={judge.votes}
          onChange={(votes) => {
            const { votes: _, ...others } = judge;
            onChange({ judge: votes === undefined ? others : { ...others, votes } });
          }}
        />
      </div>
    </div>
  );
};
