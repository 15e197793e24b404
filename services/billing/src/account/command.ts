import type { Account, Transition } from "./account";
import type { Budget } from "./budgets/budget";
import {
  alertsTaken,
  removeBudget,
  setBudget,
  type AlertsTakenCommand,
  type RemoveBudgetCommand,
  type SetBudgetCommand,
} from "./budgets/commands";
import { findReserved, type FindReservedCommand } from "./budgets/reserved";
import { erase, type EraseCommand } from "./erase";
import { extend, hold, type ExtendCommand, type HoldCommand, type HoldReply, type ReserveFirst } from "./hold";
import { payment, type PaymentCommand } from "./payment";
import {
  credit,
  renew,
  renewIfDue,
  setMonthlyCredits,
  setPlan,
  type CreditCommand,
  type RenewCommand,
  type SetMonthlyCreditsCommand,
  type SetPlanCommand,
} from "./plan";
import { settle, type SettleCommand, type SettleReply } from "./settle";

interface Replies {
  hold: HoldReply | ReserveFirst;
  extend: HoldReply | ReserveFirst;
  settle: SettleReply;
  setPlan: Account;
  setMonthlyCredits: Account;
  credit: Account;
  payment: Account;
  renew: Account;
  setBudget: Budget;
  removeBudget: Budget | null;
  alertsTaken: null;
  findReserved: ReadonlySet<string>;
  erase: null;
}

export type Command =
  | HoldCommand
  | ExtendCommand
  | SettleCommand
  | SetPlanCommand
  | SetMonthlyCreditsCommand
  | CreditCommand
  | PaymentCommand
  | RenewCommand
  | SetBudgetCommand
  | RemoveBudgetCommand
  | AlertsTakenCommand
  | FindReservedCommand
  | EraseCommand;
export type ReplyTo<C extends Command> = Replies[C["type"]];

const HANDLERS: { [T in Command["type"]]: (account: Account, command: Extract<Command, { type: T }>) => Transition<Replies[T]> } = {
  hold,
  extend,
  settle,
  setPlan,
  setMonthlyCredits,
  credit,
  payment,
  renew,
  setBudget,
  removeBudget,
  alertsTaken,
  findReserved,
  erase,
};

/**
 * Billing as one pure function: an account and a command return the next account and an outcome. If the account's month has ended, it is
 * renewed first. There is no I/O and no clock. Applying the same command to a later account returns the same reply and changes nothing.
 */
export const apply = <C extends Command>(account: Account, command: C): Transition<ReplyTo<C>> => {
  // The table pairs each command type with its handler. TypeScript can't infer that through a generic index.
  const handle = HANDLERS[command.type] as unknown as (account: Account, command: C) => Transition<ReplyTo<C>>;
  return handle(renewIfDue(account, command.at), command);
};
