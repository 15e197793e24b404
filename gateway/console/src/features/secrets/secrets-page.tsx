import type { ListedSecret } from "@nodeloom/client";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Copy, Ellipsis, LockKeyhole, Plus, RefreshCw, Trash2 } from "lucide-react";
import { useState } from "react";
import { request } from "../../api/client";
import { ConfirmDialog } from "../../parts/form";
import { Loaded } from "../../parts/loaded";
import { Badge } from "../../ui/badge";
import { Button, IconButton } from "../../ui/button";
import { Empty, Notice } from "../../ui/notice";
import { Menu } from "../../ui/overlays/menu";
import { say } from "../../ui/overlays/toast";
import { Page } from "../../ui/page";
import { Table, type Column } from "../../ui/table";
import { Time } from "../../ui/time";
import { SecretDialog } from "./secret-dialog";
import { COMMON } from "../../messages/common";
import { SECRETS_PAGE } from "../../messages/secrets";

type Asking = { what: "new" } | { what: "replace" | "delete"; secret: ListedSecret };

const secretsQuery = queryOptions({
  queryKey: ["secrets"],
  queryFn: async ({ signal }) => (await request("listSecrets", { signal })).body,
});

const SHOWN_USES = 3;

const placeholderOf = ({ name }: ListedSecret): string => `{{secrets.${name}}}`;

const copyPlaceholder = async (secret: ListedSecret): Promise<void> => {
  await navigator.clipboard.writeText(placeholderOf(secret));
  say(SECRETS_PAGE.copied(placeholderOf(secret)));
};

const Uses = ({ usedBy }: ListedSecret) => {
  if (usedBy.length === 0) return <span className="text-faint">{SECRETS_PAGE.notUsed}</span>;
  return (
    <span className="flex flex-col gap-0.5">
      {usedBy.slice(0, SHOWN_USES).map(({ slug, name }) => (
        <Link key={slug} to="/workflows/$slug" params={{ slug }} className="block truncate text-accent-text hover:underline">
          {name}
        </Link>
      ))}
      {usedBy.length > SHOWN_USES && <span className="text-xs text-faint">{SECRETS_PAGE.andMore(usedBy.length - SHOWN_USES)}</span>}
    </span>
  );
};

const Hosts = ({ hosts }: ListedSecret) => (
  <span className="block text-xs text-muted">
    {hosts.map((host) => (
      <code key={host} className="block truncate font-mono" title={host}>
        {host}
      </code>
    ))}
  </span>
);

const columnsOf = (ask: (asking: Asking) => void): readonly Column<ListedSecret>[] => [
  {
    title: COMMON.name,
    cell: (secret) => (
      <span className="block min-w-0">
        <code className="block font-mono text-xs font-medium wrap-anywhere">{secret.name}</code>
        {secret.alias !== undefined && <Badge>{secret.alias}</Badge>}
        {secret.workflows !== undefined && (
          <span className="block text-xs text-muted wrap-anywhere">{SECRETS_PAGE.limitedTo(secret.workflows.join(", "))}</span>
        )}
        <span className="mt-1 block md:hidden">
          <Hosts {...secret} />
        </span>
      </span>
    ),
  },
  { title: SECRETS_PAGE.hosts, wide: true, cell: (secret) => <Hosts {...secret} /> },
  { title: SECRETS_PAGE.usedBy, wide: true, cell: (secret) => <Uses {...secret} /> },
  {
    title: SECRETS_PAGE.updated,
    numeric: true,
    wide: true,
    cell: ({ updatedAt }) => (updatedAt === null ? null : <Time iso={updatedAt} />),
  },
  {
    title: COMMON.actions,
    numeric: true,
    cell: (secret) => (
      <Menu
        trigger={<IconButton icon={Ellipsis} size="sm" label={SECRETS_PAGE.actionsForSecret(secret.name)} />}
        entries={[
          { label: SECRETS_PAGE.copyPlaceholder, icon: Copy, run: () => void copyPlaceholder(secret) },
          { label: SECRETS_PAGE.replace, icon: RefreshCw, run: () => ask({ what: "replace", secret }) },
          null,
          { label: SECRETS_PAGE.remove, icon: Trash2, danger: true, run: () => ask({ what: "delete", secret }) },
        ]}
      />
    ),
  },
];

const DeleteDialog = ({ secret: { name, alias, usedBy }, onClose }: { secret: ListedSecret; onClose: () => void }) => (
  <ConfirmDialog
    title={SECRETS_PAGE.removeQuestion(name)}
    action={COMMON.remove}
    text={SECRETS_PAGE.removeHint(usedBy.map((one) => one.name).join(", "))}
    reads={["secrets"]}
    submit={() => request("deleteSecret", { params: { name }, query: alias === undefined ? {} : { alias } })}
    successText={SECRETS_PAGE.removed(name)}
    onClose={onClose}
  />
);

export const SecretsPage = () => {
  const list = useQuery(secretsQuery);
  const [asking, setAsking] = useState<Asking>();
  const close = (): void => setAsking(undefined);
  const isOff = list.data?.configured === false;
  return (
    <Page
      title={COMMON.secrets}
      lead={SECRETS_PAGE.intro}
      actions={
        <Button icon={Plus} variant="primary" disabled={list.data === undefined || isOff} onClick={() => setAsking({ what: "new" })}>
          {SECRETS_PAGE.newSecret}
        </Button>
      }
    >
      {isOff && (
        <Notice kind="warn" className="mb-5" title={SECRETS_PAGE.notConfigured}>
          {SECRETS_PAGE.notConfiguredHint}
        </Notice>
      )}
      <Loaded of={list} lines={4}>
        {({ secrets }) => (
          <Table
            label={COMMON.secrets}
            columns={columnsOf(setAsking)}
            rows={secrets}
            keyOf={({ name, alias = "" }) => `${name} ${alias}`}
            empty={
              !isOff && (
                <Empty icon={LockKeyhole} title={SECRETS_PAGE.noSecretsYet}>
                  {SECRETS_PAGE.emptyHint}
                </Empty>
              )
            }
          />
        )}
      </Loaded>
      {asking?.what === "new" && <SecretDialog onClose={close} />}
      {asking?.what === "replace" && <SecretDialog secret={asking.secret} onClose={close} />}
      {asking?.what === "delete" && <DeleteDialog secret={asking.secret} onClose={close} />}
    </Page>
  );
};
