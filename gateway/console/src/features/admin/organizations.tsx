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
import { COMMON } from "../../messages/common";
import { ORGANIZATIONS } from "../../messages/admin";

/** Plan credits and trial runs exist for people only. */
const CREDIT_KINDS = ["topup", "adjust"] as const;

const columnsOf = (ask: (organization: AdminOrganization) => void): readonly Column<AdminOrganization>[] => [
  { title: COMMON.organization, cell: ({ name }) => <span className="block truncate font-medium">{name}</span> },
  { title: ORGANIZATIONS.planOf, wide: true, cell: ({ tierOf }) => <AccountName id={tierOf} /> },
  { title: COMMON.members, numeric: true, cell: ({ members }) => members },
  { title: COMMON.created, numeric: true, wide: true, cell: ({ createdAt }) => (createdAt === null ? null : <Time iso={createdAt} />) },
  {
    title: COMMON.actions,
    numeric: true,
    cell: (organization) => (
      <Button size="sm" icon={Coins} aria-label={ORGANIZATIONS.addCreditsTo(organization.name)} onClick={() => ask(organization)}>
        {COMMON.credits}
      </Button>
    ),
  },
];

export const OrganizationsSection = () => {
  const [query, setQuery] = useState("");
  const [chosenOrganization, setAsked] = useState<AdminOrganization>();
  return (
    <>
      <Input
        type="search"
        aria-label={ORGANIZATIONS.searchOrganizations}
        placeholder={ORGANIZATIONS.searchByName}
        className="mb-4"
        value={query}
        onText={setQuery}
      />
      <Paged<AdminOrganization>
        key={query}
        label={COMMON.organizations}
        queryKey={["admin-organizations", query]}
        read={async (cursor, signal) => {
          const pageQuery = { limit: 50, ...(query.trim() === "" ? {} : { q: query.trim() }), ...(cursor === undefined ? {} : { cursor }) };
          return (await request("adminListOrganizations", { query: pageQuery, signal })).body;
        }}
        columns={columnsOf(setAsked)}
        keyOf={({ id }) => id}
        empty={query === "" ? ORGANIZATIONS.noOrganizationsYet : ORGANIZATIONS.noMatchingOrganizations}
      />
      {chosenOrganization && (
        <CreditsDialog
          name={chosenOrganization.name}
          kinds={CREDIT_KINDS}
          reads={["admin-organizations"]}
          book={(body, idempotencyKey) =>
            request("adminCreditOrganization", {
              params: { id: chosenOrganization.id },
              body: body as OrganizationCreditChange,
              idempotencyKey,
            })
          }
          onClose={() => setAsked(undefined)}
        />
      )}
    </>
  );
};
