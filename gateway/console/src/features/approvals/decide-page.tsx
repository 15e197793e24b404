import type { DecisionLink } from "@nodeloom/client";
import { useQuery } from "@tanstack/react-query";
import { Check, X } from "lucide-react";
import { useState } from "react";
import { codeOf, isPassing, messageOf, request } from "../../api/client";
import { useChange } from "../../api/use-change";
import { SmallPage, tokenOfLink } from "../../parts/small-page";
import { ResultView } from "../../runs/result-view";
import { Button } from "../../ui/button";
import { AreaField } from "../../ui/inputs/field";
import { Notice, Skeleton } from "../../ui/notice";
import { Time } from "../../ui/time";
import { COMMON } from "../../messages/common";
import { DECIDE_PAGE } from "../../messages/approvals";

const MAX_COMMENT_CHARS = 2_000;

type Decision = "approve" | "reject";

/** A decision that was made, or a link that no longer works. */
const Closed = ({ link }: { link: DecisionLink }) => {
  const { state, decision, decidedAt } = link;
  const time = decidedAt !== null && <Time iso={decidedAt} />;
  if (state === "over") return <Notice title={DECIDE_PAGE.over}>{DECIDE_PAGE.overHint}</Notice>;
  if (decision === null) return <Notice title={DECIDE_PAGE.expired}>{DECIDE_PAGE.expiredHint}</Notice>;
  if (state === "expired")
    return (
      <Notice title={DECIDE_PAGE.expired}>
        {DECIDE_PAGE.decidedAutomatically(decision === "approve")} {time}
      </Notice>
    );
  return (
    <Notice title={DECIDE_PAGE.spent}>
      {DECIDE_PAGE.decided(decision === "approve")} {time}
    </Notice>
  );
};

const DecisionForm = ({ link, token, onDecided }: { link: DecisionLink; token: string; onDecided: (decision: Decision) => void }) => {
  const { busy, failure, send } = useChange("decision-link");
  const [comment, setComment] = useState("");
  const { instructions, value, truncated, until, onTimeout, address } = link;
  const decide = (decision: Decision): void =>
    void send(async () => {
      const text = comment.trim();
      await request("decideByLink", { body: { token, decision, ...(text === "" ? {} : { comment: text }) } });
      onDecided(decision);
    });
  return (
    <form className="flex flex-col gap-4" onSubmit={(event) => event.preventDefault()}>
      {failure !== undefined && <Notice kind="bad">{failure}</Notice>}
      {instructions !== undefined && <p className="text-sm whitespace-pre-wrap wrap-anywhere">{instructions}</p>}
      {truncated === true && <p className="text-sm text-muted">{DECIDE_PAGE.valueTooLong}</p>}
      {value !== undefined && value !== null && <ResultView result={{ [DECIDE_PAGE.value]: value }} />}
      <AreaField label={DECIDE_PAGE.comment} rows={3} maxLength={MAX_COMMENT_CHARS} value={comment} onText={setComment} />
      <div className="grid grid-cols-2 gap-2">
        <Button variant="primary" icon={Check} busy={busy} onClick={() => decide("approve")}>
          {DECIDE_PAGE.approve}
        </Button>
        <Button icon={X} busy={busy} onClick={() => decide("reject")}>
          {DECIDE_PAGE.reject}
        </Button>
      </div>
      <p className="text-xs text-faint wrap-anywhere">
        {until !== null && (
          <>
            {DECIDE_PAGE.automatically(onTimeout === "approve")} <Time iso={until} />
            {". "}
          </>
        )}
        {DECIDE_PAGE.decideAs(address)}
      </p>
    </form>
  );
};

const LinkContent = ({ token }: { token: string }) => {
  const [decided, setDecided] = useState<Decision>();
  const { data, error, refetch } = useQuery({
    queryKey: ["decision-link", token],
    queryFn: async () => (await request("readDecisionLink", { body: { token } })).body,
    retry: false,
  });
  if (decided !== undefined)
    return (
      <SmallPage title={data?.title ?? DECIDE_PAGE.approval}>
        <div role="status">
          <Notice kind="ok" title={DECIDE_PAGE.thanks(decided === "approve")}>
            {DECIDE_PAGE.recorded}
          </Notice>
        </div>
      </SmallPage>
    );
  if (error !== null) {
    const isEnded = codeOf(error) === "NOT_APPROVER";
    return (
      <SmallPage title={DECIDE_PAGE.approval}>
        <Notice
          kind="warn"
          title={isEnded ? DECIDE_PAGE.revoked : undefined}
          actions={isPassing(error) ? <Button onClick={() => void refetch()}>{COMMON.tryAgain}</Button> : undefined}
        >
          {isEnded ? DECIDE_PAGE.revokedHint : messageOf(error)}
        </Notice>
      </SmallPage>
    );
  }
  if (!data)
    return (
      <SmallPage title={DECIDE_PAGE.approval}>
        <Skeleton />
      </SmallPage>
    );
  const { title, state, workflow, account } = data;
  return (
    <SmallPage
      title={title === "" ? DECIDE_PAGE.approval : title}
      lead={account === null ? undefined : DECIDE_PAGE.asks(account, workflow)}
      isWide={state === "waiting"}
    >
      {state === "waiting" ? <DecisionForm link={data} token={token} onDecided={setDecided} /> : <Closed link={data} />}
    </SmallPage>
  );
};

/** Page of a mailed link, for people who needn't be signed in. Opening it decides nothing. */
export const DecidePage = () => {
  const [token] = useState(tokenOfLink);
  if (token !== undefined) return <LinkContent token={token} />;
  return (
    <SmallPage title={DECIDE_PAGE.approval}>
      <Notice kind="warn">{DECIDE_PAGE.linkIncomplete}</Notice>
    </SmallPage>
  );
};
