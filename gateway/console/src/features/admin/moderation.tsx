import type { ModerationRow } from "@nodeloom/client";
import { useState } from "react";
import { request } from "../../api/client";
import { Badge } from "../../ui/badge";
import { CopyButton } from "../../ui/copy";
import { Input } from "../../ui/inputs/field";
import type { Column } from "../../ui/table";
import { Time } from "../../ui/time";
import { Paged } from "../../parts/paged";
import { AccountName } from "./account-name";

const PAGE = 50;

/** Subject of a decision. */
const subjectOf = ({ kind, nodeId, workflowSlug, model }: ModerationRow): string => {
  if (kind === "output") return `What node ${nodeId ?? ""} made`;
  return nodeId === null ? `What ${workflowSlug ?? model ?? "a run"} was given` : `What node ${nodeId} was about to send`;
};

const COLUMNS: readonly Column<ModerationRow>[] = [
  {
    title: "What",
    cell: ({ executionId, ...row }) => (
      <span className="block min-w-0">
        <span className="block truncate font-medium">{subjectOf({ executionId, ...row })}</span>
        <span className="flex items-center gap-2 text-xs">
          <CopyButton compact text={executionId} label="Copy the run's id" />
        </span>
      </span>
    ),
  },
  {
    title: "Decision",
    cell: ({ decision }) => (
      <Badge tone={decision === "refuse" ? "bad" : "warn"}>{decision === "refuse" ? "refused" : "not checked"}</Badge>
    ),
  },
  {
    title: "Why",
    wide: true,
    cell: ({ decision, reason, message }) => (
      <span className="block truncate" title={message ?? undefined}>
        {decision === "unchecked" ? "the hook was away" : [reason, message].filter(Boolean).join(": ")}
      </span>
    ),
  },
  { title: "Account", wide: true, cell: ({ userId }) => <AccountName id={userId} /> },
  { title: "When", numeric: true, cell: ({ at }) => <Time iso={at} /> },
];

/** Refused content of one account or of all. */
export const ModerationSection = () => {
  const [userId, setUserId] = useState("");
  const [isConfigured, setConfigured] = useState(true);
  const chosen = userId.trim();
  return (
    <>
      <Input
        aria-label="Id of an account"
        placeholder="Id of an account, or nothing for all"
        className="mb-4 max-w-96"
        value={userId}
        onText={setUserId}
      />
      <Paged<ModerationRow>
        key={chosen}
        label="What moderation refused"
        queryKey={["admin-moderation", chosen]}
        read={async (cursor, signal) => {
          const query = { limit: PAGE, ...(chosen === "" ? {} : { userId: chosen }), ...(cursor === undefined ? {} : { cursor }) };
          const { body } = await request("adminListModeration", { query, signal });
          setConfigured(body.configured);
          return body;
        }}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        empty={isConfigured ? "Nothing was refused." : "This installation has no moderation hook: MODERATION_URL sets one."}
      />
    </>
  );
};
