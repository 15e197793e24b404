import type { ApiKey, Budget, WorkflowSummary } from "@nodeloom/client";
import { useState } from "react";
import { useChange } from "../../api/use-change";
import { Button } from "../../ui/button";
import { InputField, SelectField } from "../../ui/inputs/field";
import { NumberField } from "../../ui/inputs/value-inputs";
import { FormDialog } from "../form";
import { isDefault, readShares, removeBudget, saveBudget, scopeWords, sharesText, WINDOWS, type BudgetScope } from "./budgets";
import { COMMON } from "../../messages/common";
import { BUDGET_DIALOG } from "../../messages/parts";

const READS = ["budgets", "batches", "batch"];
const DEFAULT_SHARES = "80";

type NamedWorkflow = Pick<WorkflowSummary, "slug" | "name">;

interface ScopeFieldsProps {
  scope: BudgetScope;
  keys: readonly ApiKey[];
  workflows: readonly NamedWorkflow[];
  onChange: (scope: BudgetScope) => void;
}

/** Scope of a new budget. */
const ScopeFields = ({ scope, keys, workflows, onChange }: ScopeFieldsProps) => (
  <>
    <SelectField
      label={BUDGET_DIALOG.appliesTo}
      value={scope.scope}
      onChange={({ target }) => {
        if (target.value === "key") onChange({ scope: "key", keyId: keys[0]?.id ?? "" });
        else if (target.value === "workflow") onChange({ scope: "workflow", workflowSlug: workflows[0]?.slug ?? "" });
        else onChange({ scope: "metadata", metadata: { name: "customer", value: "" } });
      }}
    >
      <option value="metadata">{BUDGET_DIALOG.metadataValue}</option>
      {keys.length > 0 && <option value="key">{BUDGET_DIALOG.anApiKey}</option>}
      {workflows.length > 0 && <option value="workflow">{BUDGET_DIALOG.aWorkflow}</option>}
    </SelectField>
    {scope.scope === "key" && (
      <SelectField
        label={COMMON.apiKey}
        value={scope.keyId}
        onText={(text) => onChange({ scope: "key", keyId: text })}
        options={keys.map(({ id, name }) => [id, name])}
      />
    )}
    {scope.scope === "workflow" && (
      <SelectField
        label={COMMON.workflow}
        value={scope.workflowSlug}
        onText={(text) => onChange({ scope: "workflow", workflowSlug: text })}
        options={workflows.map(({ slug, name }) => [slug, name])}
      />
    )}
    {scope.scope === "metadata" && (
      <div className="grid gap-4 sm:grid-cols-2">
        {(["name", "value"] as const).map((member) => (
          <InputField
            key={member}
            label={member === "name" ? COMMON.name : COMMON.value}
            {...(member === "value" ? { hint: BUDGET_DIALOG.eachValue } : {})}
            value={scope.metadata[member]}
            onText={(text) => onChange({ scope: "metadata", metadata: { ...scope.metadata, [member]: text } })}
          />
        ))}
      </div>
    )}
  </>
);

export interface BudgetDialogProps {
  /** Scope of the budget; absent if the user chooses it. */
  of?: BudgetScope;
  /** The current budget, if any. */
  budget: Budget | undefined;
  keys?: readonly ApiKey[];
  workflows?: readonly NamedWorkflow[];
  onClose: () => void;
}

/** Creates, changes or deletes a budget. */
export const BudgetDialog = ({ of, budget, keys = [], workflows = [], onClose }: BudgetDialogProps) => {
  const [scope, setScope] = useState<BudgetScope>(of ?? { scope: "metadata", metadata: { name: "customer", value: "" } });
  const [credits, setCredits] = useState<number | undefined>(budget?.credits);
  const [window, setWindow] = useState<Budget["window"]>(budget?.window ?? "month");
  const [sharesTyped, setSharesTyped] = useState(budget ? sharesText(budget.alertAt) : DEFAULT_SHARES);
  const { busy, run } = useChange(...READS);
  const isOfEach = isDefault(scope);
  const alertAt = isOfEach ? [] : readShares(sharesTyped);
  const isComplete =
    credits !== undefined && credits >= 0 && alertAt !== undefined && (scope.scope !== "metadata" || scope.metadata.name !== "");
  const { kind, name } = scopeWords(scope, keys);
  return (
    <FormDialog
      title={of ? BUDGET_DIALOG.budgetFor(name) : BUDGET_DIALOG.newBudget}
      action={COMMON.save}
      disabled={!isComplete}
      reads={READS}
      submit={async () => isComplete && saveBudget(scope, { credits, window, alertAt })}
      successText={BUDGET_DIALOG.budgetSaved}
      onClose={onClose}
      others={
        budget && (
          <Button
            busy={busy}
            onClick={() => void run(() => removeBudget(budget.id), BUDGET_DIALOG.budgetRemoved).then((isDone) => isDone && onClose())}
          >
            {COMMON.remove}
          </Button>
        )
      }
    >
      {of ? (
        <p className="text-sm text-muted">
          {kind}: <strong className="font-medium text-text">{name}</strong>
          {BUDGET_DIALOG.limitHint}
        </p>
      ) : (
        <ScopeFields scope={scope} keys={keys} workflows={workflows} onChange={setScope} />
      )}
      <div className="grid gap-4 sm:grid-cols-2">
        <NumberField label={COMMON.credits} hint={BUDGET_DIALOG.zero} value={credits} onChange={setCredits} />
        <SelectField
          label={BUDGET_DIALOG.period}
          hint={BUDGET_DIALOG.periodHint}
          value={window}
          onText={(text) => setWindow(text as Budget["window"])}
          options={WINDOWS}
        />
      </div>
      <InputField
        label={BUDGET_DIALOG.alertAt}
        hint={isOfEach ? BUDGET_DIALOG.noAlerts : BUDGET_DIALOG.alertsHint}
        disabled={isOfEach}
        {...(alertAt === undefined ? { error: BUDGET_DIALOG.alertsInvalid } : {})}
        value={isOfEach ? "" : sharesTyped}
        onText={setSharesTyped}
      />
    </FormDialog>
  );
};
