import { unavailable } from "@nodeloom/kernel";
import { replyWith, refuseWith, type Account, type CommandContext, type Transition } from "./account";

export interface EraseCommand extends CommandContext {
  type: "erase";
}

/** True if only the totals of the account's ledger remain. */
export const isErased = ({ holds, budgets, budgetAlerts, tier, renewsAt, monthlyMillicredits }: Account): boolean =>
  holds.length === 0 &&
  budgets.length === 0 &&
  budgetAlerts.length === 0 &&
  tier === null &&
  renewsAt === null &&
  monthlyMillicredits === 0;

/** Reduces an account to the totals of its ledger, without budgets, tier or renewals. Rejected while there are holds. */
export const erase = (account: Account, _command: EraseCommand): Transition<null> => {
  if (account.holds.length > 0) return refuseWith(account, unavailable("the account has holds still"));
  if (isErased(account)) return replyWith(account, null);
  const nothing = { budgets: [], budgetAlerts: [], tier: null, renewsAt: null, renewalDay: null, monthlyMillicredits: 0 };
  return replyWith({ ...account, ...nothing }, null);
};
