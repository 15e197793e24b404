import type { ErasureOrder } from "@nodeloom/client";
import { ERASURE_BOUNDS } from "@nodeloom/kernel/limits";
import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { Trash2 } from "lucide-react";
import { useState } from "react";
import { request } from "../../api/client";
import { mayAs } from "../../api/organization";
import { meQuery } from "../../api/queries";
import { useChange } from "../../api/use-change";
import { ConfirmDialog } from "../../parts/form";
import { Button } from "../../ui/button";
import { whole } from "../../ui/format";
import { AreaField, InputField, SelectField } from "../../ui/inputs/field";
import { namesIn, startOfDay } from "../../ui/inputs/typed";
import { Notice } from "../../ui/notice";
import { Card, Page } from "../../ui/page";
import { ErasureProgress } from "./erasure-progress";
import { PastErasures } from "./past-erasures";
import { ERASE_RUNS } from "../../messages/erasures";

const route = getRouteApi("/shell/erasures");

type By = "metadata" | "workflow" | "executions";
const WAYS: readonly (readonly [By, string])[] = [
  ["metadata", ERASE_RUNS.byMetadata],
  ["workflow", ERASE_RUNS.byWorkflow],
  ["executions", ERASE_RUNS.byIds],
];
const EMPTY = { by: "metadata" as By, name: "", value: "", workflow: "", ids: "", before: "" };

const idsIn = (text: string): string[] => [...new Set(namesIn(text))];

const chosenOf = ({ by, name, value, workflow, ids }: typeof EMPTY): ErasureOrder | undefined => {
  const executions = idsIn(ids);
  const isBounded = executions.length > 0 && executions.length <= ERASURE_BOUNDS.executions;
  switch (by) {
    case "metadata":
      return name.trim() === "" ? undefined : { metadata: { name: name.trim(), value } };
    case "workflow":
      return workflow.trim() === "" ? undefined : { workflow: workflow.trim() };
    case "executions":
      return isBounded ? { executions } : undefined;
  }
};

/** What the fields select; undefined while they are incomplete. */
const orderOf = (fields: typeof EMPTY): ErasureOrder | undefined => {
  const chosen = chosenOf(fields);
  return chosen && { ...chosen, ...(fields.before === "" ? {} : { before: startOfDay(fields.before) }) };
};

interface FieldsProps {
  fields: typeof EMPTY;
  set: (change: Partial<typeof EMPTY>) => void;
}

const Selection = ({ fields: { by, name, value, workflow, ids }, set }: FieldsProps) => {
  const count = idsIn(ids).length;
  if (by === "workflow")
    return (
      <InputField
        label={ERASE_RUNS.workflow}
        hint={ERASE_RUNS.workflowHint}
        spellCheck={false}
        value={workflow}
        onText={(text) => set({ workflow: text })}
      />
    );
  if (by === "executions")
    return (
      <AreaField
        label={ERASE_RUNS.ids}
        hint={ERASE_RUNS.idsHint(whole(ERASURE_BOUNDS.executions))}
        error={count > ERASURE_BOUNDS.executions ? ERASE_RUNS.tooMany(whole(count)) : undefined}
        rows={4}
        spellCheck={false}
        value={ids}
        onText={(text) => set({ ids: text })}
      />
    );
  return (
    <>
      <InputField
        label={ERASE_RUNS.metadataName}
        placeholder={ERASE_RUNS.exampleName}
        value={name}
        onText={(text) => set({ name: text })}
      />
      <InputField label={ERASE_RUNS.metadataValue} hint={ERASE_RUNS.metadataHint} value={value} onText={(text) => set({ value: text })} />
    </>
  );
};

/** Erases many runs, after it has counted them. */
const EraseForm = ({ onBegun }: { onBegun: (id: string) => void }) => {
  const [fields, setFields] = useState(EMPTY);
  const [matched, setMatched] = useState<number>();
  const [isAsking, setIsAsking] = useState(false);
  const { busy, run } = useChange();
  const order = orderOf(fields);
  // A count belongs to the fields that it was made for.
  const set = (change: Partial<typeof EMPTY>): void => {
    setFields({ ...fields, ...change });
    setMatched(undefined);
  };
  const count = (): void =>
    void run(async () => setMatched((await request("createErasure", { body: { ...order, dryRun: true } })).body.matched));
  const erase = async (): Promise<void> => {
    const { body } = await request("createErasure", { body: { ...order } });
    setMatched(undefined);
    if (body.erasureId !== null) onBegun(body.erasureId);
  };
  return (
    <Card>
      <div className="flex max-w-xl flex-col gap-4">
        <SelectField label={ERASE_RUNS.by} value={fields.by} onText={(by) => set({ by: by as By })} options={WAYS} />
        <Selection fields={fields} set={set} />
        <InputField
          label={ERASE_RUNS.before}
          hint={ERASE_RUNS.beforeHint}
          type="date"
          value={fields.before}
          onText={(before) => set({ before })}
        />
        <div className="flex flex-wrap items-center gap-3">
          <Button busy={busy} disabled={order === undefined} onClick={count}>
            {ERASE_RUNS.count}
          </Button>
          <Button icon={Trash2} variant="danger" disabled={!matched} onClick={() => setIsAsking(true)}>
            {ERASE_RUNS.erase}
          </Button>
          <span role="status" className="text-sm text-muted">
            {matched !== undefined && (matched === 0 ? ERASE_RUNS.nothing : ERASE_RUNS.matches(matched))}
          </span>
        </div>
      </div>
      {isAsking && matched !== undefined && (
        <ConfirmDialog
          title={ERASE_RUNS.confirm(matched)}
          action={ERASE_RUNS.confirmAction}
          text={ERASE_RUNS.confirmText}
          reads={["executions", "files", "usage", "batches", "erasures"]}
          submit={erase}
          onClose={() => setIsAsking(false)}
        />
      )}
    </Card>
  );
};

/** Erases many runs of the account, and shows the progress of the erasure in the address. */
export const ErasuresPage = () => {
  const { data: me } = useSuspenseQuery(meQuery);
  const { erasure } = route.useSearch();
  const navigate = useNavigate();
  if (!me) return null;
  return (
    <Page title={ERASE_RUNS.title} lead={ERASE_RUNS.intro}>
      {mayAs(me, "owner") ? (
        <>
          <EraseForm onBegun={(id) => void navigate({ to: "/erasures", search: { erasure: id } })} />
          {erasure !== undefined && <ErasureProgress key={erasure} id={erasure} />}
          <PastErasures />
        </>
      ) : (
        <Notice kind="info" title={ERASE_RUNS.ownersOnly}>
          {ERASE_RUNS.ownersHint}
        </Notice>
      )}
    </Page>
  );
};
