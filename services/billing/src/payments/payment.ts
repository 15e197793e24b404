/** payments/: credits bought through Stripe: its events about a payment, and their changes to an account. */

import type { PaymentMovement } from "../account/payment";

/** A completed checkout: what was bought, and what was paid for it. */
export interface Purchase {
  session: string;
  checkout: string;
  userId: string;
  millicredits: number;
  /** In the smallest unit of the currency. */
  amount: number;
  currency: string;
}

/**
 * How far a refund or a dispute has come. `notice`: no money moves (yet); `taken`: it was taken back, or is on its way; `returned`: it
 * stays after all, because the refund failed or the dispute was won.
 */
export const STAGES = ["notice", "taken", "returned"] as const;
export type Stage = (typeof STAGES)[number];

export interface Reversal {
  /** Stripe's, of the refund or the dispute. */
  id: string;
  amount: number;
  currency: string;
  stage: Stage;
}

/** Everything that is known of one payment, whatever came first. */
export interface Payment {
  /** Stripe's, of the PaymentIntent. */
  id: string;
  /** 0 where it isn't stored yet; one more with every change. */
  revision: number;
  purchase: Purchase | null;
  /** In the order in which they became known: one entry for each stage of a refund or a dispute, never changed. */
  reversals: Reversal[];
}

export type PaymentFact = { payment: string } & ({ type: "purchase"; purchase: Purchase } | { type: "reversal"; reversal: Reversal });

export const emptyPayment = (id: string): Payment => ({ id, revision: 0, purchase: null, reversals: [] });

/** What is known with one more fact; the very same object where that changes nothing. */
export const withFact = (payment: Payment, fact: PaymentFact): Payment => {
  if (fact.type === "purchase") return payment.purchase ? payment : { ...payment, purchase: fact.purchase };
  const { reversal } = fact;
  const known = payment.reversals.findLast(({ id }) => id === reversal.id);
  if (!known) return { ...payment, reversals: [...payment.reversals, reversal] };
  if (STAGES.indexOf(reversal.stage) <= STAGES.indexOf(known.stage)) return payment;
  return { ...payment, reversals: [...payment.reversals, { ...known, stage: reversal.stage }] };
};

/** The credits of a part of what was paid, at most all of them, rounded down to the milli-credit. */
export const creditsOf = ({ millicredits, amount: paid }: Purchase, amount: number): number =>
  amount >= paid ? millicredits : Number((BigInt(millicredits) * BigInt(amount)) / BigInt(paid));

const idOf = (...parts: string[]): string => ["stripe", ...parts].join(":");

/** Reversals in another currency than the purchase: how many credits they are worth, a person decides. */
export const inOtherCurrency = ({ purchase, reversals }: Payment): Reversal[] =>
  purchase
    ? reversals.filter(
        ({ id, currency, stage }, index) =>
          currency !== purchase.currency && stage !== "notice" && reversals.findLastIndex((one) => one.id === id) === index,
      )
    : [];

/** The change of an account by one stage of a reversal. */
const paidBackBy = ({ id, stage }: Reversal, millicredits: number): PaymentMovement =>
  stage === "returned"
    ? { id: idOf(id, "returned"), kind: "adjust", millicredits, note: `not paid back: ${id}` }
    : { id: idOf(id), kind: "adjust", millicredits, note: `paid back: ${id}` };

/**
 * Every movement that follows from what is known; none while the purchase isn't. Refunds and disputes together take no more than was
 * bought. More knowledge only adds movements, and none of them ever changes, so that each can be booked as soon as it is there.
 */
export const movementsOf = ({ purchase, reversals }: Payment): PaymentMovement[] => {
  if (!purchase) return [];
  const movements: PaymentMovement[] = [{ id: idOf(purchase.session), kind: "topup", millicredits: purchase.millicredits, note: "bought" }];
  const amounts = new Map<string, number>();
  let taken = 0;
  for (const reversal of reversals) {
    if (reversal.currency !== purchase.currency) continue;
    amounts.set(reversal.id, reversal.stage === "taken" ? reversal.amount : 0);
    const paidBack = [...amounts.values()].reduce((sum, amount) => sum + amount, 0);
    const before = taken;
    taken = creditsOf(purchase, paidBack);
    if (taken !== before) movements.push(paidBackBy(reversal, before - taken));
  }
  return movements;
};
