import { done, findMovement, needsLedger, record, type Account, type CommandContext, type Transition } from "./account";

/** What a payment does to the account that it is for. */
export interface PaymentMovement {
  id: string;
  /** A purchase, or what paying back takes and its failure returns. */
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
 * Books what is not booked yet of a payment's movements, each once by its id. They change top-up credits alone, so that it makes no
 * difference in which order they come, and what is paid back may take these below zero: then only what is free runs until it is made up for.
 */
export const payment = (account: Account, command: PaymentCommand): Transition<Account> => {
  const found = command.movements.map((movement) => ({ movement, row: findMovement(account, command, movement.id) }));
  const unknown = found.filter(({ row }) => row === "unknown").map(({ movement }) => movement.id);
  if (unknown.length > 0) return needsLedger(account, unknown);
  const fresh = found.filter(({ row }) => row === null).map(({ movement }) => movement);
  if (fresh.length === 0) return done(account, account);
  const paidBack = sumOf(fresh.filter(({ kind }) => kind === "adjust"));
  const next = { ...account, topUp: account.topUp + sumOf(fresh), paidBack: account.paidBack - paidBack };
  const booked = record(next, command.at, [...fresh]);
  return done(booked, booked);
};
