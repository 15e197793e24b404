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
import { COMMON } from "../../messages/common";
import { MODERATION } from "../../messages/admin";

const PAGE = 50;

const subjectOf = ({ kind, nodeId, workflowSlug, model }: ModerationRow): string => {
  if (kind === "output") return MODERATION.nodeOutput(nodeId ?? "");
  return nodeId === null ? MODERATION.runInput(workflowSlug ?? model ?? "") : MODERATION.requestOfNode(nodeId);
};

const COLUMNS: readonly Column<ModerationRow>[] = [
  {
    title: MODERATION.content,
    cell: ({ executionId, ...row }) => (
      <span className="block min-w-0">
        <span className="block truncate font-medium">{subjectOf({ executionId, ...row })}</span>
        <span className="flex items-center gap-2 text-xs">
          <CopyButton compact text={executionId} label={MODERATION.copyRunId} />
        </span>
      </span>
    ),
  },
  {
    title: MODERATION.decision,
    cell: ({ decision }) => (
      <Badge tone={decision === "refuse" ? "bad" : "warn"}>{decision === "refuse" ? MODERATION.rejected : MODERATION.notChecked}</Badge>
    ),
  },
  {
    title: MODERATION.reason,
    wide: true,
    cell: ({ decision, reason, message }) => (
      <span className="block truncate" title={message ?? undefined}>
        {decision === "unchecked" ? MODERATION.moderationHookUnavailable : [reason, message].filter(Boolean).join(": ")}
      </span>
    ),
  },
  { title: COMMON.account, wide: true, cell: ({ userId }) => <AccountName id={userId} /> },
  { title: COMMON.time, numeric: true, cell: ({ at }) => <Time iso={at} /> },
];

/** Content that moderation rejected, for one account or for all. */
export const ModerationSection = () => {
  const [userId, setUserId] = useState("");
  const [isConfigured, setConfigured] = useState(true);
  const chosenUser = userId.trim();
  return (
    <>
      <Input
        aria-label={MODERATION.accountId}
        placeholder={MODERATION.accountFilterHint}
        className="mb-4 max-w-96"
        value={userId}
        onText={setUserId}
      />
      <Paged<ModerationRow>
        key={chosenUser}
        label={MODERATION.title}
        queryKey={["admin-moderation", chosenUser]}
        read={async (cursor, signal) => {
          const query = { limit: PAGE, ...(chosenUser === "" ? {} : { userId: chosenUser }), ...(cursor === undefined ? {} : { cursor }) };
          const { body } = await request("adminListModeration", { query, signal });
          setConfigured(body.configured);
          return body;
        }}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        empty={isConfigured ? MODERATION.noRejectedContent : MODERATION.notConfigured}
      />
    </>
  );
};
