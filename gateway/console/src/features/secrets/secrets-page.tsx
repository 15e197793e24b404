import type { ListedSecret } from "@nodeloom/client";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Copy, Ellipsis, LockKeyhole, Plus, RefreshCw, Trash2 } from "lucide-react";
import { useState } from "react";
import { request } from "../../api/client";
import { LoadFailure } from "../../parts/error-pages";
import { Button, IconButton } from "../../ui/button";
import { Empty, Notice, Skeleton } from "../../ui/notice";
import { Menu } from "../../ui/overlays/menu";
import { say } from "../../ui/overlays/toast";
import { Page } from "../../ui/page";
import { Table, type Column } from "../../ui/table";
import { Time } from "../../ui/time";
import { DeleteSecretDialog } from "./delete-dialog";
import { SecretDialog } from "./secret-dialog";

type Asking = { what: "new" } | { what: "replace" | "delete"; secret: ListedSecret };

const secretsQuery = queryOptions({
  queryKey: ["secrets"],
  queryFn: async ({ signal }) => (await request("listSecrets", { signal })).body,
});

const SHOWN_USES = 3;

const placeholderOf = ({ name }: ListedSecret): string => `{{secrets.${name}}}`;

const copyPlaceholder = async (secret: ListedSecret): Promise<void> => {
  await navigator.clipboard.writeText(placeholderOf(secret));
  say(`${placeholderOf(secret)} was copied.`);
};

const Uses = ({ usedBy }: ListedSecret) => {
  if (usedBy.length === 0) return <span className="text-faint">nowhere yet</span>;
  return (
    <span className="flex flex-col gap-0.5">
      {usedBy.slice(0, SHOWN_USES).map(({ slug, name }) => (
        <Link key={slug} to="/workflows/$slug" params={{ slug }} className="block truncate text-accent-text hover:underline">
          {name}
        </Link>
      ))}
      {usedBy.length > SHOWN_USES && <span className="text-xs text-faint">and {usedBy.length - SHOWN_USES} more</span>}
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
    title: "Name",
    cell: (secret) => (
      <span className="block min-w-0">
        <code className="block font-mono text-xs font-medium wrap-anywhere">{secret.name}</code>
        <span className="mt-1 block md:hidden">
          <Hosts {...secret} />
        </span>
      </span>
    ),
  },
  { title: "Hosts", wide: true, cell: (secret) => <Hosts {...secret} /> },
  { title: "Used by", wide: true, cell: (secret) => <Uses {...secret} /> },
  { title: "Set", numeric: true, wide: true, cell: ({ updatedAt }) => (updatedAt === null ? null : <Time iso={updatedAt} />) },
  {
    title: "Actions",
    numeric: true,
    cell: (secret) => (
      <Menu
        trigger={<IconButton icon={Ellipsis} size="sm" label={`More about the secret ${secret.name}`} />}
        entries={[
          { label: "Copy the placeholder", icon: Copy, run: () => void copyPlaceholder(secret) },
          { label: "Replace…", icon: RefreshCw, run: () => ask({ what: "replace", secret }) },
          null,
          { label: "Remove…", icon: Trash2, danger: true, run: () => ask({ what: "delete", secret }) },
        ]}
      />
    ),
  },
];

export const SecretsPage = () => {
  const list = useQuery(secretsQuery);
  const [asking, setAsking] = useState<Asking>();
  const close = (): void => setAsking(undefined);
  const isOff = list.data?.configured === false;
  return (
    <Page
      title="Secrets"
      lead="Keys that HTTP nodes send as {{secrets.NAME}}: to their hosts alone, and never shown in a workflow or a run."
      actions={
        <Button icon={Plus} variant="primary" disabled={list.data === undefined || isOff} onClick={() => setAsking({ what: "new" })}>
          New secret
        </Button>
      }
    >
      {isOff && (
        <Notice kind="warn" className="mb-5" title="This installation keeps no secrets">
          Its operator sets SECRETS_KEYS for the identity service.
        </Notice>
      )}
      {list.isPending && <Skeleton lines={4} />}
      {list.isError && <LoadFailure error={list.error} retry={() => void list.refetch()} />}
      {list.data?.secrets.length === 0 && !isOff && (
        <Empty icon={LockKeyhole} title="No secrets yet">
          Set one, and write its placeholder into a header, the body or the query of an HTTP node.
        </Empty>
      )}
      {list.data && list.data.secrets.length > 0 && (
        <Table label="Secrets" columns={columnsOf(setAsking)} rows={list.data.secrets} keyOf={({ name }) => name} />
      )}
      {asking?.what === "new" && <SecretDialog onClose={close} />}
      {asking?.what === "replace" && <SecretDialog secret={asking.secret} onClose={close} />}
      {asking?.what === "delete" && <DeleteSecretDialog secret={asking.secret} onClose={close} />}
    </Page>
  );
};
