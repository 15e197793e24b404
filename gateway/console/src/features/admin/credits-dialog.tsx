import type { AdminUser, CreditChange, LedgerRow } from "@nodeloom/client";
import { useQuery } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { request } from "../../api/client";
import { modelsQuery } from "../../api/queries";
import { useAction } from "../../api/use-action";
import { Button } from "../../ui/button";
import { Dialog } from "../../ui/overlays/dialog";
import { Field, Input, Select } from "../../ui/inputs/field";
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
  /** Whose credits they are. */
  name: string;
  kinds: readonly Kind[];
  /** First names of the queries that are read again. */
  reads: readonly string[];
  book: (body: CreditChange, idempotencyKey: string) => Promise<{ body: { credits: { plan: number; topUp: number } } }>;
  onClose: () => void;
}

export const CreditsDialog = ({ name, kinds, reads, book, onClose }: CreditsDialogProps) => {
  const models = useQuery({ ...modelsQuery, enabled: kinds.includes("grant") });
  const [kind, setKind] = useState<Kind>("topup");
  // One dialog is one gift, however often it is sent.
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  const { busy, run } = useAction(reads);
  const submit = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const data = new FormData(event.currentTarget);
    const [amount, note, model] = [Number(data.get("amount")), String(data.get("note") ?? ""), String(data.get("model") ?? "")];
    const body: CreditChange = kind === "grant" ? { kind, model, runs: amount, note } : { kind, amount, note };
    const answer = await run(() => book(body, idempotencyKey));
    if (!answer) return;
    say(`${name} has ${credits(answer.body.credits.plan + answer.body.credits.topUp)} now.`);
    onClose();
  };
  return (
    <Dialog
      title={`Credits of ${name}`}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form="credits" variant="primary" busy={busy}>
            Book
          </Button>
        </>
      }
    >
      <form id="credits" className="flex flex-col gap-4" onSubmit={(event) => void submit(event)}>
        <Field label="Kind">
          {(attributes) => (
            <Select {...attributes} value={kind} onChange={(event) => setKind(event.target.value as Kind)}>
              {kinds.map((one) => (
                <option key={one} value={one}>
                  {KINDS[one]}
                </option>
              ))}
            </Select>
          )}
        </Field>
        {kind === "grant" && (
          <Field label="Model">
            {(attributes) => (
              <Select {...attributes} name="model">
                {models.data?.map(({ internalName }) => (
                  <option key={internalName}>{internalName}</option>
                ))}
              </Select>
            )}
          </Field>
        )}
        <Field label={kind === "grant" ? "Runs" : "Credits"}>
          {(attributes) => <Input {...attributes} name="amount" type="number" step="any" required autoFocus />}
        </Field>
        <Field label="Note" hint="For the ledger and the audit.">
          {(attributes) => <Input {...attributes} name="note" maxLength={500} />}
        </Field>
      </form>
    </Dialog>
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
