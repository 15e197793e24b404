import type { AdminOrganization, OrganizationCreditChange } from "@nodeloom/client";
import { Coins } from "lucide-react";
import { useState } from "react";
import { request } from "../../api/client";
import { Paged } from "../../parts/paged";
import { Button } from "../../ui/button";
import { Input } from "../../ui/inputs/field";
import type { Column } from "../../ui/table";
import { Time } from "../../ui/time";
import { AccountName } from "./account-name";
import { CreditsDialog } from "./credits-dialog";

/** Plan credits and trial runs exist for people only. */
const CREDIT_KINDS = ["topup", "adjust"] as const;

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
        onText={setQuery}
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
      {asked && (
        <CreditsDialog
          name={asked.name}
          kinds={CREDIT_KINDS}
          reads={["admin-organizations"]}
          book={(body, idempotencyKey) =>
            request("adminCreditOrganization", { params: { id: asked.id }, body: body as OrganizationCreditChange, idempotencyKey })
          }
          onClose={() => setAsked(undefined)}
        />
      )}
    </>
  );
};
