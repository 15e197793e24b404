import type { ServiceAccount } from "@nodeloom/client";
import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Bot, Ellipsis, KeyRound, Pencil, Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { request } from "../../api/client";
import { mayAs, ownerIdOf } from "../../api/organization";
import { keysQuery, meQuery } from "../../api/queries";
import { Loaded } from "../../parts/loaded";
import { Badge } from "../../ui/badge";
import { Button, IconButton } from "../../ui/button";
import { Empty, Notice } from "../../ui/notice";
import { Menu } from "../../ui/overlays/menu";
import { Page } from "../../ui/page";
import { Table, type Column } from "../../ui/table";
import { Time } from "../../ui/time";
import { IssuedDialog, type IssuedKey } from "./key-dialogs";
import { DeleteServiceAccountDialog, READS, ServiceAccountDialog, ServiceKeyDialog } from "./service-account-dialogs";
import { COMMON } from "../../messages/common";
import { SERVICE_ACCOUNTS_PAGE } from "../../messages/service-accounts";

type Asking = { what: "change" | "key" | "delete"; account: ServiceAccount } | { what: "new" };

const columnsOf = (keysOf: (id: string) => number, ask: (asking: Asking) => void): readonly Column<ServiceAccount>[] => [
  {
    title: COMMON.name,
    cell: ({ name, id }) => (
      <span className="block min-w-0">
        <span className="block truncate font-medium">{name}</span>
        <code className="block truncate font-mono text-xs text-faint">{id}</code>
      </span>
    ),
  },
  {
    title: SERVICE_ACCOUNTS_PAGE.permissions,
    wide: true,
    cell: ({ capabilities }) => (
      <span className="flex flex-wrap gap-1">
        {capabilities.map((capability) => (
          <Badge key={capability}>{capability}</Badge>
        ))}
      </span>
    ),
  },
  {
    title: SERVICE_ACCOUNTS_PAGE.keys,
    cell: ({ id }) => (
      <Link to="/keys" className="text-accent-text hover:underline">
        {SERVICE_ACCOUNTS_PAGE.keyCount(keysOf(id))}
      </Link>
    ),
  },
  { title: COMMON.created, numeric: true, wide: true, cell: ({ createdAt }) => <Time iso={createdAt} /> },
  {
    title: COMMON.actions,
    numeric: true,
    cell: (account) => (
      <Menu
        trigger={<IconButton icon={Ellipsis} size="sm" label={SERVICE_ACCOUNTS_PAGE.actionsFor(account.name)} />}
        entries={[
          { label: SERVICE_ACCOUNTS_PAGE.newKey, icon: KeyRound, run: () => ask({ what: "key", account }) },
          { label: SERVICE_ACCOUNTS_PAGE.change, icon: Pencil, run: () => ask({ what: "change", account }) },
          null,
          { label: COMMON.deleteMenu, icon: Trash2, danger: true, run: () => ask({ what: "delete", account }) },
        ]}
      />
    ),
  },
];

/** Service accounts of the account, for its owners. */
export const ServiceAccountsPage = () => {
  const { data: me } = useSuspenseQuery(meQuery);
  const isOwner = me !== null && mayAs(me, "owner");
  const id = me ? ownerIdOf(me) : "";
  const accounts = useQuery({
    queryKey: [READS[0], id],
    queryFn: async ({ signal }) => (await request("listServiceAccounts", { params: { id }, signal })).body,
    enabled: isOwner,
  });
  const keys = useQuery({ ...keysQuery, enabled: isOwner }).data ?? [];
  const [asking, setAsking] = useState<Asking>();
  const [issued, setIssued] = useState<IssuedKey>();
  const close = (): void => setAsking(undefined);
  if (!me) return null;
  const isFree = me.user.tier === "free";
  return (
    <Page
      title={SERVICE_ACCOUNTS_PAGE.title}
      lead={SERVICE_ACCOUNTS_PAGE.intro}
      actions={
        <Button icon={Plus} variant="primary" disabled={!isOwner || isFree || !me.user.approved} onClick={() => setAsking({ what: "new" })}>
          {SERVICE_ACCOUNTS_PAGE.newAccount}
        </Button>
      }
    >
      {!isOwner && (
        <Notice kind="info" title={SERVICE_ACCOUNTS_PAGE.ownersOnly}>
          {SERVICE_ACCOUNTS_PAGE.ownersHint}
        </Notice>
      )}
      {isOwner && isFree && <Notice kind="info" className="mb-5" title={SERVICE_ACCOUNTS_PAGE.planRequired} />}
      {isOwner && (
        <Loaded of={accounts} lines={4}>
          {(rows) => (
            <Table
              label={SERVICE_ACCOUNTS_PAGE.title}
              columns={columnsOf((account) => keys.filter(({ createdBy }) => createdBy === account).length, setAsking)}
              rows={rows}
              keyOf={(account) => account.id}
              empty={
                <Empty icon={Bot} title={SERVICE_ACCOUNTS_PAGE.noAccountsYet}>
                  {SERVICE_ACCOUNTS_PAGE.emptyHint}
                </Empty>
              }
            />
          )}
        </Loaded>
      )}
      {asking?.what === "new" && <ServiceAccountDialog me={me} onClose={close} />}
      {asking?.what === "change" && <ServiceAccountDialog me={me} account={asking.account} onClose={close} />}
      {asking?.what === "key" && <ServiceKeyDialog account={asking.account} onIssued={setIssued} onClose={close} />}
      {asking?.what === "delete" && <DeleteServiceAccountDialog me={me} account={asking.account} onClose={close} />}
      {issued && <IssuedDialog issued={issued} onClose={() => setIssued(undefined)} />}
    </Page>
  );
};
