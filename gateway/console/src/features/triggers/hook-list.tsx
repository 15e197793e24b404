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

const columnsOf = (revoke: (hook: Hook) => void): readonly Column<Hook>[] => [
  { title: "Address", cell: ({ start }) => <code className="font-mono text-xs">/hooks/{start}…</code> },
  {
    title: "Inputs by",
    wide: true,
    cell: ({ expression }) => <code className="block truncate font-mono text-xs">{expression || "the whole body"}</code>,
  },
  {
    title: "Signed",
    cell: ({ hmac }) => (hmac ? <Badge tone="ok">{hmac.header}</Badge> : <span className="text-faint">no</span>),
  },
  { title: "At most", numeric: true, wide: true, cell: ({ maxCredits }) => credits(maxCredits) },
  { title: "Made", numeric: true, wide: true, cell: ({ createdAt }) => <Time iso={createdAt} /> },
  {
    title: "Runs",
    numeric: true,
    cell: ({ id }) => (
      <Link to="/executions" search={{ meta: `hookId=${id}` }} className="text-accent-text hover:underline">
        Show
      </Link>
    ),
  },
  {
    title: "Actions",
    numeric: true,
    cell: (hook) => <IconButton icon={Trash2} size="sm" label={`Revoke the hook ${hook.start}…`} onClick={() => revoke(hook)} />,
  },
];

/** Address of a new hook. Only its button closes the dialog. */
const IssuedHookDialog = ({ url, onClose }: { url: string; onClose: () => void }) => (
  <ShownOnceDialog title="The hook's address" action="I have kept it" onClose={onClose}>
    <Notice kind="warn" title="Shown this once">
      Copy it now: only its hash is kept. Who has it may start this workflow at your cost.
    </Notice>
    <Code text={url} label="Address" wrap />
    <p className="text-sm text-muted">To try it, in a terminal; the run appears under Runs:</p>
    <Code text={`curl -X POST '${url}' -H 'content-type: application/json' -d '{}'`} label="Call" wrap />
  </ShownOnceDialog>
);

export const HookList = ({ slug, hooks }: { slug: string; hooks: readonly Hook[] }) => {
  const [isAdding, setIsAdding] = useState(false);
  const [issued, setIssued] = useState<IssuedHook>();
  const [revoking, setRevoking] = useState<Hook>();
  const add = (
    <Button icon={Plus} variant="primary" onClick={() => setIsAdding(true)}>
      New hook
    </Button>
  );
  return (
    <section>
      <header className="mb-3 flex flex-wrap items-center justify-between gap-2">
        <h2 className="text-[15px] font-semibold">Hooks</h2>
        {hooks.length > 0 && add}
      </header>
      <Table
        label="Hooks"
        columns={columnsOf(setRevoking)}
        rows={hooks}
        keyOf={({ id }) => id}
        empty={
          <Empty icon={Webhook} title="No hooks" actions={add}>
            A hook is an address: what another service sends to it becomes the inputs of a run.
          </Empty>
        }
      />
      {isAdding && <HookDialog slug={slug} onIssued={setIssued} onClose={() => setIsAdding(false)} />}
      {issued && <IssuedHookDialog url={issued.url} onClose={() => setIssued(undefined)} />}
      {revoking && (
        <ConfirmDialog
          title="Revoke this hook?"
          text={`What is sent to /hooks/${revoking.start}… is answered as if it had never been there.`}
          action="Revoke"
          reads={["hooks"]}
          submit={() => request("deleteHook", { params: { slug, id: revoking.id } })}
          done="Revoked."
          onClose={() => setRevoking(undefined)}
        />
      )}
    </section>
  );
};
