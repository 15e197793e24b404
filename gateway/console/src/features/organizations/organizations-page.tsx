import type { Organization } from "@nodeloom/client";
import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ArrowRight, Plus, Users } from "lucide-react";
import { useState } from "react";
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

const columnsOf = (currentId: string): readonly Column<Organization>[] => [
  {
    title: "Organization",
    cell: ({ id, name, erasesAt }) => (
      <>
        <Link to="/organizations/$id" params={{ id }} className="font-medium text-accent-text hover:underline">
          {name}
        </Link>{" "}
        {erasesAt !== null && <Badge tone="warn">to be deleted</Badge>}
      </>
    ),
  },
  { title: "You are", cell: ({ role }) => <Badge>{role}</Badge> },
  { title: "Members", numeric: true, wide: true, cell: ({ members }) => members },
  { title: "Plan", wide: true, cell: ({ tier }) => tier },
  {
    title: "Actions",
    numeric: true,
    cell: ({ id, name }) =>
      id === currentId ? (
        <span className="text-xs text-muted">at work here</span>
      ) : (
        <Button size="sm" icon={ArrowRight} aria-label={`Work for ${name}`} onClick={() => workFor(id)}>
          Work here
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
      title="Organizations"
      lead="People who share workflows, files, keys, secrets, runs and one balance. Your own account stays yours alone."
      actions={
        <Button icon={Plus} variant="primary" disabled={!me.user.approved} onClick={() => setNaming(true)}>
          New organization
        </Button>
      }
    >
      <Loaded of={list}>
        {(all) => (
          <Table
            label="Organizations"
            columns={columnsOf(ownerIdOf(me))}
            rows={all.filter(({ personal }) => !personal)}
            keyOf={({ id }) => id}
            empty={
              <Empty icon={Users} title="You are in no organization">
                Make one and invite others, or open the link of an invitation that you were sent.
              </Empty>
            }
          />
        )}
      </Loaded>
      {naming && <PromptDialog title="New organization" label="Name" action="Create" submit={create} onClose={() => setNaming(false)} />}
    </Page>
  );
};
