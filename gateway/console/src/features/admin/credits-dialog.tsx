import type { AdminUser, CreditChange, LedgerRow } from "@nodeloom/client";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { request } from "../../api/client";
import { modelsQuery } from "../../api/queries";
import { FormDialog } from "../../parts/form";
import { Dialog } from "../../ui/overlays/dialog";
import { InputField, SelectField } from "../../ui/inputs/field";
import { creditNumber, credits } from "../../ui/format";
import type { Column } from "../../ui/table";
import { Time } from "../../ui/time";
import { say } from "../../ui/overlays/toast";
import { Paged } from "../../parts/paged";
import { COMMON } from "../../messages/common";
import { CREDITS_DIALOG } from "../../messages/admin";

const KINDS = {
  topup: CREDITS_DIALOG.topUp,
  plan: CREDITS_DIALOG.planCredits,
  adjust: CREDITS_DIALOG.adjustment,
  grant: CREDITS_DIALOG.trialRunsOfAModel,
} as const;
type Kind = keyof typeof KINDS;

interface CreditsDialogProps {
  /** Owner's name. */
  name: string;
  kinds: readonly Kind[];
  /** First keys of the queries to refresh. */
  reads: readonly string[];
  book: (body: CreditChange, idempotencyKey: string) => Promise<{ body: { credits: { plan: number; topUp: number } } }>;
  onClose: () => void;
}

export const CreditsDialog = ({ name, kinds, reads, book, onClose }: CreditsDialogProps) => {
  const models = useQuery({ ...modelsQuery, enabled: kinds.includes("grant") });
  const [kind, setKind] = useState<Kind>("topup");
  // One dialog adds credits once, however often it is submitted.
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  const submit = async (data: FormData): Promise<void> => {
    const [amount, note, model] = [Number(data.get("amount")), String(data.get("note") ?? ""), String(data.get("model") ?? "")];
    const body: CreditChange = kind === "grant" ? { kind, model, runs: amount, note } : { kind, amount, note };
    const { credits: now } = (await book(body, idempotencyKey)).body;
    say(CREDITS_DIALOG.has(name, credits(now.plan + now.topUp)));
  };
  return (
    <FormDialog
      title={CREDITS_DIALOG.addCreditsTo(name)}
      action={CREDITS_DIALOG.addCredits}
      reads={reads}
      submit={submit}
      onClose={onClose}
    >
      <SelectField
        label={CREDITS_DIALOG.type}
        value={kind}
        onText={(text) => setKind(text as Kind)}
        options={kinds.map((one) => [one, KINDS[one]])}
      />
      {kind === "grant" && (
        <SelectField label={COMMON.model} name="model" options={(models.data ?? []).map(({ internalName }) => internalName)} />
      )}
      <InputField label={kind === "grant" ? COMMON.runs : COMMON.credits} name="amount" type="number" step="any" required data-first />
      <InputField label={CREDITS_DIALOG.note} hint={CREDITS_DIALOG.reasonHint} name="note" maxLength={500} />
    </FormDialog>
  );
};

export const UserCreditsDialog = ({ user: { id, email }, onClose }: { user: AdminUser; onClose: () => void }) => (
  <CreditsDialog
    name={email}
    kinds={["topup", "plan", "adjust", "grant"]}
    reads={["admin-users", "admin-ledger"]}
    book={(body, idempotencyKey) => request("adminCreditUser", { params: { id }, body, idempotencyKey })}
    onClose={onClose}
  />
);

const COLUMNS: readonly Column<LedgerRow>[] = [
  {
    title: CREDITS_DIALOG.type,
    cell: ({ kind, model }) => (
      <span className="block truncate">
        {kind}
        {model === null ? "" : ` · ${model}`}
      </span>
    ),
  },
  {
    title: COMMON.credits,
    numeric: true,
    cell: ({ credits: amount, runs }) => (runs !== 0 ? CREDITS_DIALOG.runs(runs) : creditNumber(amount)),
  },
  { title: CREDITS_DIALOG.change, numeric: true, wide: true, cell: ({ moved }) => (moved === 0 ? "" : creditNumber(moved)) },
  {
    title: CREDITS_DIALOG.note,
    wide: true,
    cell: ({ note, executionId }) => <span className="block truncate text-muted">{note || executionId}</span>,
  },
  { title: COMMON.date, numeric: true, cell: ({ createdAt }) => <Time iso={createdAt} /> },
];

export const LedgerDialog = ({ user, onClose }: { user: AdminUser; onClose: () => void }) => (
  <Dialog title={CREDITS_DIALOG.ledgerOf(user.email)} width="lg" onClose={onClose}>
    <Paged<LedgerRow>
      label={CREDITS_DIALOG.ledger}
      queryKey={["admin-ledger", user.id]}
      read={async (cursor, signal) =>
        (
          await request("adminListLedger", {
            params: { id: user.id },
            query: { limit: 50, ...(cursor === undefined ? {} : { cursor }) },
            signal,
          })
        ).body
      }
      columns={COLUMNS}
      keyOf={({ id }) => id}
      empty={CREDITS_DIALOG.noTransactionsYet}
    />
  </Dialog>
);
