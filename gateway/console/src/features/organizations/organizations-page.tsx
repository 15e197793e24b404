import type { Organization } from "@nodeloom/client";
import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ArrowRight, Plus, Users } from "lucide-react";
import { useState } from "react";
import { titled } from "../../ui/format";
import { request } from "../../api/client";
import { ownerIdOf, workFor } from "../../api/organization";
import { meQuery, organizationsQuery } from "../../api/queries";
import { Loaded } from "../../parts/loaded";
import { Badge } from "../../ui/badge";
import { Button } from "../../ui/button";
import { Empty } from "../../ui/notice";
import { PromptDialog } from "../../parts/form";
import { Page } from "../../ui/page";
import { Table, type Column } from "../../ui/table";
import { COMMON } from "../../messages/common";
import { ORGANIZATIONS_PAGE } from "../../messages/organizations";

const columnsOf = (currentId: string): readonly Column<Organization>[] => [
  {
    title: COMMON.organization,
    cell: ({ id, name, erasesAt }) => (
      <>
        <Link to="/organizations/$id" params={{ id }} className="font-medium text-accent-text hover:underline">
          {name}
        </Link>{" "}
        {erasesAt !== null && <Badge tone="warn">{ORGANIZATIONS_PAGE.toBeDeleted}</Badge>}
      </>
    ),
  },
  { title: ORGANIZATIONS_PAGE.yourRole, cell: ({ role }) => <Badge>{titled(role)}</Badge> },
  { title: COMMON.members, numeric: true, wide: true, cell: ({ members }) => members },
  { title: COMMON.plan, wide: true, cell: ({ tier }) => titled(tier) },
  {
    title: COMMON.actions,
    numeric: true,
    cell: ({ id, name }) =>
      id === currentId ? (
        <span className="text-xs text-muted">{ORGANIZATIONS_PAGE.current}</span>
      ) : (
        <Button size="sm" icon={ArrowRight} aria-label={ORGANIZATIONS_PAGE.switchTo(name)} onClick={() => workFor(id)}>
          {ORGANIZATIONS_PAGE.switchToIt}
        </Button>
      ),
  },
];

export const OrganizationsPage = () => {
  const { data: me } = useSuspenseQuery(meQuery);
  const list = useQuery(organizationsQuery);
  const [naming, setNaming] = useState(false);
  if (!me) return null;
  const create = async (name: string): Promise<void> => {
    const { id } = (await request("createOrganization", { body: { name }, idempotencyKey: crypto.randomUUID() })).body;
    workFor(id, `/organizations/${id}`);
  };
  return (
    <Page
      title={COMMON.organizations}
      lead={ORGANIZATIONS_PAGE.intro}
      actions={
        <Button icon={Plus} variant="primary" disabled={!me.user.approved} onClick={() => setNaming(true)}>
          {ORGANIZATIONS_PAGE.createOrganization}
        </Button>
      }
    >
      <Loaded of={list}>
        {(all) => (
          <Table
            label={COMMON.organizations}
            columns={columnsOf(ownerIdOf(me))}
            rows={all.filter(({ personal }) => !personal)}
            keyOf={({ id }) => id}
            empty={
              <Empty icon={Users} title={ORGANIZATIONS_PAGE.noOrganizationsYet}>
                {ORGANIZATIONS_PAGE.emptyHint}
              </Empty>
            }
          />
        )}
      </Loaded>
      {naming && (
        <PromptDialog
          title={ORGANIZATIONS_PAGE.createOrganization}
          label={COMMON.name}
          action={COMMON.create}
          submit={create}
          onClose={() => setNaming(false)}
        />
      )}
    </Page>
  );
};
