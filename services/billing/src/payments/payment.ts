/** Derives movements of credits from Stripe's events about a payment. */

import type { PaymentMovement } from "../account/payment";

/** A completed checkout: the credits and the amount paid. */
export interface Purchase {
  session: string;
  checkout: string;
  userId: string;
  millicredits: number;
  /** Amount in the smallest unit of the currency. */
  amount: number;
  currency: string;
}

/**
 * Stage of a refund or dispute. `notice`: no money has moved yet. `taken`: the money was or will be taken back. `returned`: the refund
 * failed or the dispute was won.
 */
export const STAGES = ["notice", "taken", "returned"] as const;
export type Stage = (typeof STAGES)[number];

export interface Reversal {
  /** Stripe's id of the refund or dispute. */
  id: string;
  amount: number;
  currency: string;
  stage: Stage;
}

/** All known facts of one payment, in any order of arrival. */
export interface Payment {
  /** Stripe's id of the PaymentIntent. */
  id: string;
  /** Revision number; 0 for a payment that isn't stored yet. Every change increases it. */
  revision: number;
  purchase: Purchase | null;
  /** One immutable entry for each stage of a refund or dispute, in order of arrival. */
  reversals: Reversal[];
}

export type PaymentFact = { payment: string } & ({ type: "purchase"; purchase: Purchase } | { type: "reversal"; reversal: Reversal });

export const emptyPayment = (id: string): Payment => ({ id, revision: 0, purchase: null, reversals: [] });

/** Adds a fact. Returns the same object if nothing changes. */
export const withFact = (payment: Payment, fact: PaymentFact): Payment => {
  if (fact.type === "purchase") return payment.purchase ? payment : { ...payment, purchase: fact.purchase };
  const { reversal } = fact;
  const earlier = payment.reversals.findLast(({ id }) => id === reversal.id);
  if (!earlier) return { ...payment, reversals: [...payment.reversals, reversal] };
  if (STAGES.indexOf(reversal.stage) <= STAGES.indexOf(earlier.stage)) return payment;
  return { ...payment, reversals: [...payment.reversals, { ...earlier, stage: reversal.stage }] };
};

/** Returns the credits for a part of the amount paid. They are rounded down to milli-credits and limited to all credits of the purchase. */
export const creditsOf = ({ millicredits, amount: paidAmount }: Purchase, amount: number): number =>
  amount >= paidAmount ? millicredits : Number((BigInt(millicredits) * BigInt(amount)) / BigInt(paidAmount));

const idOf = (...parts: string[]): string => ["stripe", ...parts].join(":");

/** Returns the reversals in a different currency than the purchase. A person must decide how many credits they are worth. */
export const inOtherCurrency = ({ purchase, reversals }: Payment): Reversal[] =>
  purchase
    ? reversals.filter(
        ({ id, currency, stage }, index) =>
          currency !== purchase.currency && stage !== "notice" && reversals.findLastIndex((one) => one.id === id) === index,
      )
    : [];

const paidBackBy = ({ id, stage }: Reversal, millicredits: number): PaymentMovement =>
  stage === "returned"
    ? { id: idOf(id, "returned"), kind: "adjust", millicredits, note: `not paid back: ${id}` }
    : { id: idOf(id), kind: "adjust", millicredits, note: `paid back: ${id}` };

/**
 * Returns all movements that follow from the known facts; none before the purchase is known. Reversals together take at most the purchased
 * credits. New facts add movements but never change one, so each movement can be booked immediately.
 */
export const movementsOf = ({ purchase, reversals }: Payment): PaymentMovement[] => {
  if (!purchase) return [];
  const movements: PaymentMovement[] = [{ id: idOf(purchase.session), kind: "topup", millicredits: purchase.millicredits, note: "bought" }];
  const amounts = new Map<string, number>();
  let credited = 0;
  for (const reversal of reversals) {
    if (reversal.currency !== purchase.currency) continue;
    amounts.set(reversal.id, reversal.stage === "taken" ? reversal.amount : 0);
    const paidBack = [...amounts.values()].reduce((sum, amount) => sum + amount, 0);
    const before = credited;
    credited = creditsOf(purchase, paidBack);
    if (credited !== before) movements.push(paidBackBy(reversal, before - credited));
  }
  return movements;
};
