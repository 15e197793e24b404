import { replyWith, findMovement, needsLedger, record, type Account, type CommandContext, type Transition } from "./account";

export interface PaymentMovement {
  id: string;
  /** `topup`: a purchase. `adjust`: a refund, or the reversal of a failed one. */
  kind: "topup" | "adjust";
  millicredits: number;
  note: string;
}

export interface PaymentCommand extends CommandContext {
  type: "payment";
  movements: readonly PaymentMovement[];
}

const sumOf = (movements: readonly PaymentMovement[]): number => movements.reduce((sum, { millicredits }) => sum + millicredits, 0);

/**
 * Books a payment's missing movements, once per id. They change only top-up credits, so their order doesn't matter. Refunds can make the
 * balance negative. Only free runs are allowed until it is positive again.
 */
export const payment = (account: Account, command: PaymentCommand): Transition<Account> => {
  const movements = command.movements.map((movement) => ({ movement, row: findMovement(account, command, movement.id) }));
  const unknown = movements.filter(({ row }) => row === "unknown").map(({ movement }) => movement.id);
  if (unknown.length > 0) return needsLedger(account, unknown);
  const fresh = movements.filter(({ row }) => row === null).map(({ movement }) => movement);
  if (fresh.length === 0) return replyWith(account, account);
  const paidBack = sumOf(fresh.filter(({ kind }) => kind === "adjust"));
  const next = { ...account, topUp: account.topUp + sumOf(fresh), paidBack: account.paidBack - paidBack };
  const booked = record(next, command.at, [...fresh]);
  return replyWith(booked, booked);
};
