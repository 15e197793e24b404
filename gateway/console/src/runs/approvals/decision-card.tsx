import type { Execution } from "@nodeloom/client";
import { Check, X } from "lucide-react";
import { useState } from "react";
import { request } from "../../api/client";
import { useChange } from "../../api/use-change";
import { Button } from "../../ui/button";
import { TextArea } from "../../ui/inputs/field";
import { Card } from "../../ui/page";
import { Time } from "../../ui/time";
import { ResultView } from "../result-view";
import { COMMON } from "../../messages/common";
import { DECISION_CARD } from "../../messages/runs";

const MAX_COMMENT_CHARS = 2_000;

export type Waiting = NonNullable<Execution["waitingFor"]>[number];

/** The value under review: files, an editable text, or a table. */
const Shown = ({ waiting, text, onText }: { waiting: Waiting; text: string | undefined; onText: (text: string) => void }) => {
  const { value, truncated } = waiting;
  if (truncated === true) return <p className="text-sm text-muted">{DECISION_CARD.valueTooLong}</p>;
  if (value === undefined || value === null) return null;
  if (text === undefined) return <ResultView result={{ value }} />;
  return <TextArea aria-label={DECISION_CARD.text} rows={8} value={text} onText={onText} />;
};

/** A decision of a run: its value, a comment and two buttons. */
export const DecisionCard = ({ executionId, waiting, isPlain = false }: { executionId: string; waiting: Waiting; isPlain?: boolean }) => {
  const { nodeId, title, instructions, until, onTimeout, value } = waiting;
  const { busy, run } = useChange("execution", "executions", "waiting", "me");
  const [text, setText] = useState<string>();
  const [comment, setComment] = useState<string>();
  const decide = (decision: "approve" | "reject"): void =>
    void run(
      () =>
        request("decideExecution", {
          params: { id: executionId },
          body: {
            ...{ nodeId, decision },
            ...(text === undefined || text === value ? {} : { value: text }),
            ...(comment?.trim() ? { comment: comment.trim() } : {}),
          },
        }),
      decision === "approve" ? DECISION_CARD.approved : DECISION_CARD.rejected,
    );
  const content = (
    <div className="flex flex-col gap-3">
      {isPlain && <h3 className="text-[13px] font-semibold wrap-anywhere">{title}</h3>}
      {instructions !== undefined && <p className="text-sm text-muted whitespace-pre-wrap wrap-anywhere">{instructions}</p>}
      <Shown waiting={waiting} text={text} onText={setText} />
      {comment !== undefined && (
        <TextArea aria-label={COMMON.comment} rows={2} autoFocus maxLength={MAX_COMMENT_CHARS} value={comment} onText={setComment} />
      )}
      <div className="flex flex-wrap items-center gap-2">
        <Button size="sm" variant="primary" icon={Check} busy={busy} onClick={() => decide("approve")}>
          {DECISION_CARD.approve}
        </Button>
        <Button size="sm" icon={X} busy={busy} onClick={() => decide("reject")}>
          {DECISION_CARD.reject}
        </Button>
        {typeof value === "string" && text === undefined && (
          <Button size="sm" variant="ghost" onClick={() => setText(value)}>
            {DECISION_CARD.editText}
          </Button>
        )}
        {comment === undefined && (
          <Button size="sm" variant="ghost" onClick={() => setComment("")}>
            {DECISION_CARD.addComment}
          </Button>
        )}
      </div>
      <p className="text-xs text-faint">
        {DECISION_CARD.decidedAutomatically(onTimeout === "approve")} <Time iso={until} />
        {DECISION_CARD.holdHint}
      </p>
    </div>
  );
  return isPlain ? content : <Card title={DECISION_CARD.waitingForApproval(title)}>{content}</Card>;
};
