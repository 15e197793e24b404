import type { Hook, IssuedHook } from "@nodeloom/client";
import { Link } from "@tanstack/react-router";
import { Plus, Trash2, Webhook } from "lucide-react";
import { useState } from "react";
import { request } from "../../api/client";
import { Badge } from "../../ui/badge";
import { Button, IconButton } from "../../ui/button";
import { Code } from "../../ui/copy";
import { credits } from "../../ui/format";
import { Empty, Notice } from "../../ui/notice";
import { Table, type Column } from "../../ui/table";
import { Time } from "../../ui/time";
import { ConfirmDialog, ShownOnceDialog } from "../../parts/form";
import { HookDialog } from "./hook-dialog";
import { COMMON } from "../../messages/common";
import { HOOK_LIST } from "../../messages/triggers";

const columnsOf = (revoke: (hook: Hook) => void): readonly Column<Hook>[] => [
  { title: COMMON.address, cell: ({ start }) => <code className="font-mono text-xs">{HOOK_LIST.hooks(start)}</code> },
  {
    title: COMMON.inputs,
    wide: true,
    cell: ({ expression }) => <code className="block truncate font-mono text-xs">{expression || HOOK_LIST.wholeBody}</code>,
  },
  {
    title: HOOK_LIST.signed,
    cell: ({ hmac }) => (hmac ? <Badge tone="ok">{hmac.header}</Badge> : <span className="text-faint">{HOOK_LIST.no}</span>),
  },
  { title: HOOK_LIST.creditLimit, numeric: true, wide: true, cell: ({ maxCredits }) => credits(maxCredits) },
  { title: COMMON.created, numeric: true, wide: true, cell: ({ createdAt }) => <Time iso={createdAt} /> },
  {
    title: COMMON.runs,
    numeric: true,
    cell: ({ id }) => (
      <Link to="/executions" search={{ meta: `hookId=${id}` }} className="text-accent-text hover:underline">
        {HOOK_LIST.view}
      </Link>
    ),
  },
  {
    title: COMMON.actions,
    numeric: true,
    cell: (hook) => <IconButton icon={Trash2} size="sm" label={HOOK_LIST.revokeHook(hook.start)} onClick={() => revoke(hook)} />,
  },
];

/** Shows the address of a new hook. Only its button closes the dialog. */
const IssuedHookDialog = ({ url, onClose }: { url: string; onClose: () => void }) => (
  <ShownOnceDialog title={HOOK_LIST.hookAddress} action={HOOK_LIST.iSavedIt} onClose={onClose}>
    <Notice kind="warn" title={HOOK_LIST.shownOnlyOnce}>
      {HOOK_LIST.copyNow}
    </Notice>
    <Code text={url} label={COMMON.address} wrap />
    <p className="text-sm text-muted">{HOOK_LIST.testHint}</p>
    <Code text={`curl -X POST '${url}' -H 'content-type: application/json' -d '{}'`} label={HOOK_LIST.call} wrap />
  </ShownOnceDialog>
);

export const HookList = ({ slug, hooks }: { slug: string; hooks: readonly Hook[] }) => {
  const [isAdding, setIsAdding] = useState(false);
  const [issued, setIssued] = useState<IssuedHook>();
  const [revoking, setRevoking] = useState<Hook>();
  const add = (
    <Button icon={Plus} variant="primary" onClick={() => setIsAdding(true)}>
      {HOOK_LIST.newHook}
    </Button>
  );
  return (
    <section>
      <header className="mb-3 flex flex-wrap items-center justify-between gap-2">
        <h2 className="text-[15px] font-semibold">{HOOK_LIST.hooksLabel}</h2>
        {hooks.length > 0 && add}
      </header>
      <Table
        label={HOOK_LIST.hooksLabel}
        columns={columnsOf(setRevoking)}
        rows={hooks}
        keyOf={({ id }) => id}
        empty={
          <Empty icon={Webhook} title={HOOK_LIST.noHooksYet} actions={add}>
            {HOOK_LIST.intro}
          </Empty>
        }
      />
      {isAdding && <HookDialog slug={slug} onIssued={setIssued} onClose={() => setIsAdding(false)} />}
      {issued && <IssuedHookDialog url={issued.url} onClose={() => setIssued(undefined)} />}
      {revoking && (
        <ConfirmDialog
          title={HOOK_LIST.revokeThisHook}
          text={HOOK_LIST.revokeHint(revoking.start)}
          action={HOOK_LIST.revoke}
          reads={["hooks"]}
          submit={() => request("deleteHook", { params: { slug, id: revoking.id } })}
          successText={HOOK_LIST.revoked}
          onClose={() => setRevoking(undefined)}
        />
      )}
    </section>
  );
};
