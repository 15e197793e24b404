import type { MadeDecision } from "@nodeloom/client";
import { useQuery } from "@tanstack/react-query";
import { Check, X } from "lucide-react";
import { ownerIdOf } from "../../api/organization";
import { membersQuery, meQuery, namedKeysQuery } from "../../api/queries";
import { Time } from "../../ui/time";
import { decisionWords } from "./decision-words";

export interface DecisionListProps {
  decisions: readonly MadeDecision[];
  /** Title of each decision; none in a list about one node. */
  titleOf?: (nodeId: string) => string;
}

/** Decisions on approvals of a run, with author, time and comment. */
export const DecisionList = ({ decisions, titleOf }: DecisionListProps) => {
  const { data: me } = useQuery(meQuery);
  const members = useQuery({ ...membersQuery(me ? ownerIdOf(me) : ""), enabled: Boolean(me) });
  const isByKey = decisions.some(({ decidedBy }) => decidedBy !== null && "keyId" in decidedBy);
  const keys = useQuery({ ...namedKeysQuery, enabled: isByKey, retry: false });
  // Names appear together, not first as a general term.
  if (members.isPending || (isByKey && keys.isPending)) return null;
  const people = { members: members.data ?? [], keys: keys.data ?? [] };
  return (
    <ul className="flex flex-col gap-3">
      {decisions.map((madeDecision) => {
        const Icon = madeDecision.decision === "approve" ? Check : X;
        return (
          <li key={`${madeDecision.nodeId} ${madeDecision.decidedAt}`} className="flex gap-2 text-sm">
            <Icon className={`mt-0.5 size-4 shrink-0 ${madeDecision.decision === "approve" ? "text-ok" : "text-bad"}`} aria-hidden />
            <div className="min-w-0">
              {titleOf && <h3 className="text-[13px] font-semibold wrap-anywhere">{titleOf(madeDecision.nodeId)}</h3>}
              <p className="text-muted wrap-anywhere">
                {decisionWords(madeDecision, people)}
                {madeDecision.decidedAt !== null && (
                  <>
                    {" · "}
                    <Time iso={madeDecision.decidedAt} />
                  </>
                )}
              </p>
              {madeDecision.comment !== null && <p className="mt-0.5 whitespace-pre-wrap wrap-anywhere">{madeDecision.comment}</p>}
            </div>
          </li>
        );
      })}
    </ul>
  );
};
