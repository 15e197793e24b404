import type { ApiKey, Budget } from "@nodeloom/client";
import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { Bot, Ellipsis, KeyRound, Plus, RefreshCw, ScrollText, Send, Tag, Trash2, Wallet, Webhook } from "lucide-react";
import { useState } from "react";
import { Loaded } from "../../parts/loaded";
import { request } from "../../api/client";
import { mayAs } from "../../api/organization";
import { keysQuery, meQuery } from "../../api/queries";
import { useChange } from "../../api/use-change";
import { Badge } from "../../ui/badge";
import { Button, buttonClasses, IconButton } from "../../ui/button";
import { Menu } from "../../ui/overlays/menu";
import { Empty, Notice } from "../../ui/notice";
import { Page } from "../../ui/page";
import { Table, type Column } from "../../ui/table";
import { Time } from "../../ui/time";
import { complain, say } from "../../ui/overlays/toast";
import { BudgetBar } from "../../parts/budgets/budget-bar";
import { BudgetDialog } from "../../parts/budgets/budget-dialog";
import { budgetsQuery, isBudgetOf } from "../../parts/budgets/budgets";
import { MetadataDialog } from "./metadata-dialog";
import { NewKeyDialog } from "./new-key-dialog";
import { IssuedDialog, RevokeDialog, RotateDialog, WebhookDialog, type IssuedKey } from "./key-dialogs";
import { COMMON } from "../../messages/common";
import { KEYS_PAGE } from "../../messages/keys";

type Asking = { what: "revoke" | "rotate" | "webhook" | "budget" | "metadata"; key: ApiKey } | { what: "new" };

const Capabilities = ({ apiKey }: { apiKey: ApiKey }) => (
  <span className="flex flex-wrap gap-1" title={apiKey.capabilities.join(", ")}>
    {apiKey.preset === "" || apiKey.preset === "custom" ? (
      apiKey.capabilities.slice(0, 3).map((capability) => <Badge key={capability}>{capability}</Badge>)
    ) : (
      <Badge tone="accent">{apiKey.preset}</Badge>
    )}
    {(apiKey.preset === "" || apiKey.preset === "custom") && apiKey.capabilities.length > 3 && (
      <Badge>+{apiKey.capabilities.length - 3}</Badge>
    )}
  </span>
);

const useTest = () => {
  const { run } = useChange();
  return (key: ApiKey): void =>
    void run(async () => {
      const { body } = await request("testKeyWebhook", { params: { id: key.id } });
      if (body.delivered) say(KEYS_PAGE.testResponse(body.status, body.durationMs));
      else complain(KEYS_PAGE.testFailed(body.error, body.status));
    });
};

const budgetOf = (budgets: readonly Budget[], { id: keyId }: ApiKey): Budget | undefined =>
  budgets.find(isBudgetOf({ scope: "key", keyId }));

interface Actions {
  ask: (asking: Asking) => void;
  test: (key: ApiKey) => void;
  show: (key: ApiKey) => void;
}

const columnsOf = (budgets: readonly Budget[], { ask, test, show }: Actions): readonly Column<ApiKey>[] => [
  {
    title: COMMON.name,
    className: "max-xl:max-w-48! max-md:max-w-32!",
    cell: ({ name, start }) => (
      <span className="block min-w-0">
        <span className="block truncate font-medium">{name}</span>
        <code className="font-mono text-xs text-faint">{start}…</code>
      </span>
    ),
  },
  { title: KEYS_PAGE.permissions, wide: true, cell: (key) => <Capabilities apiKey={key} /> },
  {
    title: COMMON.webhook,
    wide: "widest",
    cell: ({ webhook }) =>
      webhook === null ? (
        <span className="text-faint">–</span>
      ) : (
        <span className="block truncate">
          {webhook.disabledAt !== null && <Badge tone="bad">{KEYS_PAGE.disabled}</Badge>} {webhook.url}
        </span>
      ),
  },
  {
    title: COMMON.budget,
    wide: true,
    cell: (key) => {
      const budget = budgetOf(budgets, key);
      return budget ? <BudgetBar budget={budget} className="min-w-28" /> : <span className="text-faint">–</span>;
    },
  },
  {
    title: KEYS_PAGE.lastUsed,
    numeric: true,
    cell: ({ lastUsedAt }) => (lastUsedAt === null ? <span className="text-faint">{KEYS_PAGE.never}</span> : <Time iso={lastUsedAt} />),
  },
  {
    title: KEYS_PAGE.expires,
    numeric: true,
    wide: true,
    cell: ({ expiresAt }) => (expiresAt === null ? <span className="text-faint">{KEYS_PAGE.never}</span> : <Time iso={expiresAt} />),
  },
  {
    title: COMMON.actions,
    numeric: true,
    cell: (key) => (
      <Menu
        trigger={<IconButton icon={Ellipsis} size="sm" label={KEYS_PAGE.actionsForKey(key.name)} />}
        entries={[
          { label: KEYS_PAGE.requests, icon: ScrollText, run: () => show(key) },
          { label: KEYS_PAGE.rotate, icon: RefreshCw, run: () => ask({ what: "rotate", key }) },
          { label: key.webhook ? KEYS_PAGE.changeWebhook : KEYS_PAGE.setWebhook, icon: Webhook, run: () => ask({ what: "webhook", key }) },
          ...(key.webhook ? [{ label: KEYS_PAGE.sendTest, icon: Send, run: () => test(key) }] : []),
          { label: KEYS_PAGE.budget, icon: Wallet, run: () => ask({ what: "budget", key }) },
          { label: KEYS_PAGE.metadata, icon: Tag, run: () => ask({ what: "metadata", key }) },
          null,
          { label: KEYS_PAGE.revoke, icon: Trash2, danger: true, run: () => ask({ what: "revoke", key }) },
        ]}
      />
    ),
  },
];

export const KeysPage = () => {
  const { data: me } = useSuspenseQuery(meQuery);
  const keys = useQuery(keysQuery);
  const budgets = useQuery(budgetsQuery).data ?? [];
  const [asking, setAsking] = useState<Asking>();
  const [issued, setIssued] = useState<IssuedKey>();
  const test = useTest();
  const navigate = useNavigate();
  const show = ({ id }: ApiKey): void => void navigate({ to: "/keys/$id", params: { id } });
  const close = (): void => setAsking(undefined);
  if (!me) return null;
  const denied = me.user.tier === "free" && me.user.role !== "admin";
  return (
    <Page
      title={COMMON.apiKeys}
      lead={KEYS_PAGE.intro}
      actions={
        <>
          {mayAs(me, "owner") && (
            <Link to="/service-accounts" className={buttonClasses("secondary")}>
              <Bot className="size-4" aria-hidden /> {KEYS_PAGE.serviceAccounts}
            </Link>
          )}
          <Button icon={Plus} variant="primary" disabled={denied || !me.user.approved} onClick={() => setAsking({ what: "new" })}>
            {KEYS_PAGE.newKey}
          </Button>
        </>
      }
    >
      {denied && (
        <Notice kind="info" className="mb-5" title={KEYS_PAGE.planRequired}>
          {KEYS_PAGE.planHint(me.user.email)}
        </Notice>
      )}
      <Loaded of={keys} lines={5}>
        {(rows) => (
          <Table
            label={COMMON.apiKeys}
            columns={columnsOf(budgets, { ask: setAsking, test, show })}
            rows={rows}
            keyOf={({ id }) => id}
            empty={
              !denied && (
                <Empty icon={KeyRound} title={KEYS_PAGE.noApiKeysYet}>
                  {KEYS_PAGE.emptyHint}
                </Empty>
              )
            }
          />
        )}
      </Loaded>
      {asking?.what === "new" && <NewKeyDialog me={me} onIssued={setIssued} onClose={close} />}
      {asking?.what === "rotate" && <RotateDialog apiKey={asking.key} onIssued={setIssued} onClose={close} />}
      {asking?.what === "webhook" && <WebhookDialog apiKey={asking.key} onIssued={setIssued} onClose={close} />}
      {asking?.what === "revoke" && <RevokeDialog apiKey={asking.key} onClose={close} />}
      {asking?.what === "metadata" && <MetadataDialog apiKey={asking.key} onClose={close} />}
      {asking?.what === "budget" && (
        <BudgetDialog
          of={{ scope: "key", keyId: asking.key.id }}
          budget={budgetOf(budgets, asking.key)}
          keys={keys.data ?? []}
          onClose={close}
        />
      )}
      {issued && <IssuedDialog issued={issued} onClose={() => setIssued(undefined)} />}
    </Page>
  );
};
