import type { MadeDecision, Member } from "@nodeloom/client";
import { keyName, type NamedKey } from "../../api/key-name";
import { DECISIONS } from "../../messages/runs";

interface Directory {
  members: readonly Pick<Member, "userId" | "email">[];
  keys: readonly NamedKey[];
}

const decider = (decidedBy: MadeDecision["decidedBy"], { members, keys }: Directory): string => {
  if (decidedBy === null) return DECISIONS.anOwner;
  if ("userId" in decidedBy) return members.find(({ userId }) => userId === decidedBy.userId)?.email ?? DECISIONS.aMember;
  if ("address" in decidedBy) return DECISIONS.byMail(decidedBy.address);
  const name = keyName(keys, decidedBy.keyId, "");
  return name === "" ? DECISIONS.aKey : DECISIONS.key(name);
};

/** "Approved by ada@example.com". Names that can't be read are replaced by a general term. */
export const decisionWords = ({ decision, decidedBy, by }: MadeDecision, people: Directory): string => {
  const isApproved = decision === "approve";
  if (by === "timeout") return isApproved ? DECISIONS.approvedAfterTimeout : DECISIONS.rejectedAfterTimeout;
  if (by === "rerun") return isApproved ? DECISIONS.approvedEarlier : DECISIONS.rejectedEarlier;
  const who = decider(decidedBy, people);
  return isApproved ? DECISIONS.approvedBy(who) : DECISIONS.rejectedBy(who);
};
