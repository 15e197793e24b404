import type { AdminOrganization, OrganizationCreditChange } from "@nodeloom/client";
import { Coins } from "lucide-react";
import { useState, type FormEvent } from "react";
import { request } from "../../api/client";
import { useAction } from "../../api/use-action";
import { Paged } from "../../app/paged";
import { Button } from "../../ui/button";
import { credits } from "../../ui/format";
import { Field, Input, Select } from "../../ui/inputs/field";
import { Dialog } from "../../ui/overlays/dialog";
import { say } from "../../ui/overlays/toast";
import type { Column } from "../../ui/table";
import { Time } from "../../ui/time";
import { AccountName } from "./account-name";

const KINDS = [
  ["topup", "Top-up"],
  ["adjust", "Adjustment (may be negative)"],
] as const;

const OrganizationCredits = ({ organization: { id, name }, onClose }: { organization: AdminOrganization; onClose: () => void }) => {
  // One dialog is one gift, however often it is sent.
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  const { busy, run } = useAction(["admin-organizations"]);
  const submit = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const data = new FormData(event.currentTarget);
    const body = {
      kind: String(data.get("kind")),
      amount: Number(data.get("amount")),
      note: String(data.get("note") ?? ""),
    } as OrganizationCreditChange;
    const answer = await run(() => request("adminCreditOrganization", { params: { id }, body, idempotencyKey }));
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
          <Button type="submit" form="organization-credits" variant="primary" busy={busy}>
            Book
          </Button>
        </>
      }
    >
      <form id="organization-credits" className="flex flex-col gap-4" onSubmit={(event) => void submit(event)}>
        <Field label="Kind">
          {(attributes) => (
            <Select {...attributes} name="kind">
              {KINDS.map(([value, title]) => (
                <option key={value} value={value}>
                  {title}
                </option>
              ))}
            </Select>
          )}
        </Field>
        <Field label="Credits">{(attributes) => <Input {...attributes} name="amount" type="number" step="any" required autoFocus />}</Field>
        <Field label="Note" hint="For the ledger and the audit.">
          {(attributes) => <Input {...attributes} name="note" maxLength={500} />}
        </Field>
      </form>
    </Dialog>
  );
};

const columnsOf = (ask: (organization: AdminOrganization) => void): readonly Column<AdminOrganization>[] => [
  { title: "Organization", cell: ({ name }) => <span className="block truncate font-medium">{name}</span> },
  { title: "Plan of", wide: true, cell: ({ tierOf }) => <AccountName id={tierOf} /> },
  { title: "Members", numeric: true, cell: ({ members }) => members },
  { title: "Made", numeric: true, wide: true, cell: ({ createdAt }) => (createdAt === null ? null : <Time iso={createdAt} />) },
  {
    title: "Actions",
    numeric: true,
    cell: (organization) => (
      <Button size="sm" icon={Coins} aria-label={`Give credits to ${organization.name}`} onClick={() => ask(organization)}>
        Credits
      </Button>
    ),
  },
];

export const OrganizationsSection = () => {
  const [query, setQuery] = useState("");
  const [asked, setAsked] = useState<AdminOrganization>();
  return (
    <>
      <Input
        type="search"
        aria-label="Search organizations"
        placeholder="Part of the name"
        className="mb-4"
        value={query}
        onChange={({ target }) => setQuery(target.value)}
      />
      <Paged<AdminOrganization>
        key={query}
        label="Organizations"
        queryKey={["admin-organizations", query]}
        read={async (cursor, signal) => {
          const given = { limit: 50, ...(query.trim() === "" ? {} : { q: query.trim() }), ...(cursor === undefined ? {} : { cursor }) };
          return (await request("adminListOrganizations", { query: given, signal })).body;
        }}
        columns={columnsOf(setAsked)}
        keyOf={({ id }) => id}
        empty={query === "" ? "There are none yet." : "None has this in its name."}
      />
      {asked && <OrganizationCredits organization={asked} onClose={() => setAsked(undefined)} />}
    </>
  );
};
