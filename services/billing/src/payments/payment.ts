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
  reversals: Reversal[];
}

export type PaymentFact = { payment: string } & ({ type: "purchase"; purchase: Purchase } | { type: "reversal"; reversal: Reversal });

export const emptyPayment = (id: string): Payment => ({ id, revision: 0, purchase: null, reversals: [] });

const later = (one: Stage, other: Stage): Stage => (STAGES.indexOf(other) > STAGES.indexOf(one) ? other : one);

/** What is known with one more fact; the very same object where that changes nothing. The order of facts makes no difference. */
export const withFact = (payment: Payment, fact: PaymentFact): Payment => {
  if (fact.type === "purchase") return payment.purchase ? payment : { ...payment, purchase: fact.purchase };
  const { reversal } = fact;
  const known = payment.reversals.find(({ id }) => id === reversal.id);
  if (!known) return { ...payment, reversals: [...payment.reversals, reversal] };
  const stage = later(known.stage, reversal.stage);
  if (stage === known.stage) return payment;
  return { ...payment, reversals: payment.reversals.map((one) => (one === known ? { ...one, stage } : one)) };
};

/** The credits of a part of what was paid, at most all of them, rounded down to the milli-credit. */
export const creditsOf = ({ millicredits, amount: paid }: Purchase, amount: number): number =>
  amount >= paid ? millicredits : Number((BigInt(millicredits) * BigInt(amount)) / BigInt(paid));

const idOf = (...parts: string[]): string => ["stripe", ...parts].join(":");

/** Reversals in another currency than the purchase: how many credits they are worth, a person decides. */
export const inOtherCurrency = ({ purchase, reversals }: Payment): Reversal[] =>
  purchase ? reversals.filter(({ currency, stage }) => currency !== purchase.currency && stage !== "notice") : [];

/**
 * Every movement that follows from what is known; none while the purchase isn't. More knowledge only adds to them, and none of them ever
 * changes, so that each may be booked as soon as it is there.
 */
export const movementsOf = ({ purchase, reversals }: Payment): PaymentMovement[] => {
  if (!purchase) return [];
  const { session, millicredits } = purchase;
  const bought: PaymentMovement = { id: idOf(session), kind: "topup", millicredits, note: "bought" };
  const paidBack = reversals.flatMap(({ id, amount, currency, stage }): PaymentMovement[] => {
    const taken = creditsOf(purchase, amount);
    if (stage === "notice" || currency !== purchase.currency || taken === 0) return [];
    const take: PaymentMovement = { id: idOf(id), kind: "adjust", millicredits: -taken, note: `paid back: ${id}` };
    const giveBack: PaymentMovement = { id: idOf(id, "returned"), kind: "adjust", millicredits: taken, note: `not paid back: ${id}` };
    return stage === "returned" ? [take, giveBack] : [take];
  });
  return [bought, ...paidBack];
};
