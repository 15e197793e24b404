import type { ApiKey, Budget, WorkflowSummary } from "@nodeloom/client";
import { useState, type FormEvent } from "react";
import { useAction } from "../../api/use-action";
import { Button } from "../../ui/button";
import { Field, Input, Select } from "../../ui/inputs/field";
import { NumberInput } from "../../ui/inputs/value-inputs";
import { Dialog } from "../../ui/overlays/dialog";
import { readShares, removeBudget, saveBudget, scopeWords, sharesText, WINDOWS, type BudgetScope } from "./budgets";

const DEFAULT_SHARES = "80";

type NamedWorkflow = Pick<WorkflowSummary, "slug" | "name">;

interface ScopeFieldsProps {
  scope: BudgetScope;
  keys: readonly ApiKey[];
  workflows: readonly NamedWorkflow[];
  onChange: (scope: BudgetScope) => void;
}

/** What a new budget is for. */
const ScopeFields = ({ scope, keys, workflows, onChange }: ScopeFieldsProps) => (
  <>
    <Field label="Of runs">
      {(attributes) => (
        <Select
          {...attributes}
          value={scope.scope}
          onChange={({ target }) => {
            if (target.value === "key") onChange({ scope: "key", keyId: keys[0]?.id ?? "" });
            else if (target.value === "workflow") onChange({ scope: "workflow", workflowSlug: workflows[0]?.slug ?? "" });
            else onChange({ scope: "metadata", metadata: { name: "customer", value: "" } });
          }}
        >
          <option value="metadata">with a value of metadata</option>
          {keys.length > 0 && <option value="key">by an API key</option>}
          {workflows.length > 0 && <option value="workflow">of a workflow</option>}
        </Select>
      )}
    </Field>
    {scope.scope === "key" && (
      <Field label="API key">
        {(attributes) => (
          <Select {...attributes} value={scope.keyId} onChange={({ target }) => onChange({ scope: "key", keyId: target.value })}>
            {keys.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </Select>
        )}
      </Field>
    )}
    {scope.scope === "workflow" && (
      <Field label="Workflow">
        {(attributes) => (
          <Select
            {...attributes}
            value={scope.workflowSlug}
            onChange={({ target }) => onChange({ scope: "workflow", workflowSlug: target.value })}
          >
            {workflows.map(({ slug, name }) => (
              <option key={slug} value={slug}>
                {name}
              </option>
            ))}
          </Select>
        )}
      </Field>
    )}
    {scope.scope === "metadata" && (
      <div className="grid gap-4 sm:grid-cols-2">
        {(["name", "value"] as const).map((member) => (
          <Field key={member} label={member === "name" ? "Name" : "Value"}>
            {(attributes) => (
              <Input
                {...attributes}
                value={scope.metadata[member]}
                onChange={({ target }) => onChange({ scope: "metadata", metadata: { ...scope.metadata, [member]: target.value } })}
              />
            )}
          </Field>
        ))}
      </div>
    )}
  </>
);

export interface BudgetDialogProps {
  /** What it is for; absent: that is chosen. */
  of?: BudgetScope;
  /** As it stands, where there is one. */
  budget: Budget | undefined;
  keys?: readonly ApiKey[];
  workflows?: readonly NamedWorkflow[];
  onClose: () => void;
}

/** Sets a budget, changes it, or removes it. */
export const BudgetDialog = ({ of, budget, keys = [], workflows = [], onClose }: BudgetDialogProps) => {
  const [scope, setScope] = useState<BudgetScope>(of ?? { scope: "metadata", metadata: { name: "customer", value: "" } });
  const [credits, setCredits] = useState<number | undefined>(budget?.credits);
  const [window, setWindow] = useState<Budget["window"]>(budget?.window ?? "month");
  const [sharesTyped, setSharesTyped] = useState(budget ? sharesText(budget.alertAt) : DEFAULT_SHARES);
  const { busy, run } = useAction(["budgets", "batches", "batch"]);
  const alertAt = readShares(sharesTyped);
  const isComplete =
    credits !== undefined && credits >= 0 && alertAt !== undefined && (scope.scope !== "metadata" || scope.metadata.name !== "");
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (!isComplete) return;
    if (await run(() => saveBudget(scope, { credits, window, alertAt }), "The budget is set.")) onClose();
  };
  const { kind, name } = scopeWords(scope, keys);
  return (
    <Dialog
      title={of ? `Budget of ${name}` : "New budget"}
      onClose={onClose}
      actions={
        <>
          {budget && (
            <Button
              busy={busy}
              onClick={() => void run(() => removeBudget(budget.id), "The budget was removed.").then((done) => done && onClose())}
            >
              Remove
            </Button>
          )}
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form="budget" variant="primary" busy={busy} disabled={!isComplete}>
            Save
          </Button>
        </>
      }
    >
      <form id="budget" className="flex flex-col gap-4" onSubmit={(event) => void submit(event)}>
        {of ? (
          <p className="text-sm text-muted">
            {kind}: <strong className="font-medium text-text">{name}</strong>. Runs that may cost more than is left are refused.
          </p>
        ) : (
          <ScopeFields scope={scope} keys={keys} workflows={workflows} onChange={setScope} />
        )}
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label="Credits" hint="0 forbids all that costs credits.">
            {(attributes) => <NumberInput {...attributes} value={credits} onChange={setCredits} />}
          </Field>
          <Field label="For" hint="In UTC; weeks begin on Monday.">
            {(attributes) => (
              <Select {...attributes} value={window} onChange={({ target }) => setWindow(target.value as Budget["window"])}>
                {WINDOWS.map(([value, words]) => (
                  <option key={value} value={value}>
                    {words}
                  </option>
                ))}
              </Select>
            )}
          </Field>
        </div>
        <Field
          label="Alerts at (%)"
          hint="Up to five, such as 50, 80. Webhooks that hear of budget.alert are called, once in each window."
          {...(alertAt === undefined ? { error: "Numbers from 0.1 to 100, at most five." } : {})}
        >
          {(attributes) => <Input {...attributes} value={sharesTyped} onChange={({ target }) => setSharesTyped(target.value)} />}
        </Field>
      </form>
    </Dialog>
  );
};
