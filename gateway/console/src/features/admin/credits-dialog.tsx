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

const KINDS = {
  topup: "Top-up",
  plan: "Plan credits",
  adjust: "Adjustment (may be negative)",
  grant: "Trial runs of a model",
} as const;
type Kind = keyof typeof KINDS;

interface CreditsDialogProps {
  /** Owner of the credits. */
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
  // One dialog credits once, however often it is sent.
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  const submit = async (data: FormData): Promise<void> => {
    const [amount, note, model] = [Number(data.get("amount")), String(data.get("note") ?? ""), String(data.get("model") ?? "")];
    const body: CreditChange = kind === "grant" ? { kind, model, runs: amount, note } : { kind, amount, note };
    const { credits: now } = (await book(body, idempotencyKey)).body;
    say(`${name} has ${credits(now.plan + now.topUp)} now.`);
  };
  return (
    <FormDialog title={`Credits of ${name}`} action="Book" reads={reads} submit={submit} onClose={onClose}>
      <SelectField label="Kind" value={kind} onText={(text) => setKind(text as Kind)} options={kinds.map((one) => [one, KINDS[one]])} />
      {kind === "grant" && <SelectField label="Model" name="model" options={(models.data ?? []).map(({ internalName }) => internalName)} />}
      <InputField label={kind === "grant" ? "Runs" : "Credits"} name="amount" type="number" step="any" required data-first />
      <InputField label="Note" hint="For the ledger and the audit." name="note" maxLength={500} />
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
    title: "Kind",
    cell: ({ kind, model }) => (
      <span className="block truncate">
        {kind}
        {model === null ? "" : ` · ${model}`}
      </span>
    ),
  },
  { title: "Credits", numeric: true, cell: ({ credits: amount, runs }) => (runs !== 0 ? `${runs} runs` : creditNumber(amount)) },
  { title: "Moved", numeric: true, wide: true, cell: ({ moved }) => (moved === 0 ? "" : creditNumber(moved)) },
  { title: "Note", wide: true, cell: ({ note, executionId }) => <span className="block truncate text-muted">{note || executionId}</span> },
  { title: "When", numeric: true, cell: ({ createdAt }) => <Time iso={createdAt} /> },
];

export const LedgerDialog = ({ user, onClose }: { user: AdminUser; onClose: () => void }) => (
  <Dialog title={`Ledger of ${user.email}`} width="lg" onClose={onClose}>
    <Paged<LedgerRow>
      label="Ledger"
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
      empty="Nothing was booked yet."
    />
  </Dialog>
);
