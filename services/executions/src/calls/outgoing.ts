import { DomainError } from "@nodeloom/kernel";
import type { OutgoingUser, OverBudget, TakeOutgoing } from "@nodeloom/platform";
import { countOutgoingWait } from "../meters";
import { QUOTES_ADDRESS, TryAgain } from "./failures";

/** Why a call can't be made now. */
const overBudgetError = ({ name, afterMs }: OverBudget): DomainError => {
  const at = new Date(Date.now() + afterMs).toISOString();
  return new DomainError("failed", "OUTGOING_LIMIT_EXCEEDED", `${name}; try again at ${at}`, QUOTES_ADDRESS);
};

export type Outgoing = ReturnType<typeof createOutgoing>;

/** Holds calls of runs to their users' budgets. */
export const createOutgoing = (take: TakeOutgoing) => ({
  /**
   * Counts a call of a run.
   * @param until when its turn must have come, in milliseconds since the epoch
   * @throws TryAgain while its turn may come in time, OUTGOING_LIMIT_EXCEEDED when it won't
   */
  call: async (user: OutgoingUser, url: string, until: number): Promise<void> => {
    const over = await take("calls", user, url);
    if (!over) return;
    const isInTime = Date.now() + over.pauseMs <= until;
    countOutgoingWait("call", isInTime ? "waited" : "refused");
    throw isInTime ? new TryAgain(overBudgetError(over), over.pauseMs) : overBudgetError(over);
  },
});
