import { DomainError } from "@nodeloom/kernel";
import type { OutgoingUser, OverBudget, TakeOutgoing } from "@nodeloom/platform";
import { countOutgoingWait } from "../meters";
import { QUOTES_ADDRESS, TryAgain } from "./failures";

const overBudgetError = ({ name, afterMs }: OverBudget): DomainError => {
  const at = new Date(Date.now() + afterMs).toISOString();
  return new DomainError("failed", "OUTGOING_LIMIT_EXCEEDED", `${name}; try again at ${at}`, QUOTES_ADDRESS);
};

export type Outgoing = ReturnType<typeof createOutgoing>;

export const createOutgoing = (take: TakeOutgoing) => ({
  /**
   * Counts a call against its user's limit on outgoing requests.
   * @param until deadline for the call's turn, in milliseconds since the epoch
   * @throws TryAgain if the turn can come before the deadline; otherwise OUTGOING_LIMIT_EXCEEDED
   */
  call: async (user: OutgoingUser, url: string, until: number): Promise<void> => {
    const over = await take("calls", user, url);
    if (!over) return;
    const isInTime = Date.now() + over.pauseMs <= until;
    countOutgoingWait("call", isInTime ? "waited" : "refused");
    throw isInTime ? new TryAgain(overBudgetError(over), over.pauseMs) : overBudgetError(over);
  },
});
