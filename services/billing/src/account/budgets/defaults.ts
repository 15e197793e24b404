/**
 * Default budgets: a limit for each value of a metadata member that has no budget of its own. The usage of each value is a counter outside
 * the account, so that an account stays small with any number of values. A hold first reserves credits on the counters; the account then
 * decides if the reservation suffices.
 */

import type { BudgetWindow } from "@nodeloom/kernel";
import { isDefault, type Budget, type CountedBudgets, type DefaultReservation, type Subject } from "./budget";
import { windowStart } from "./windows";

/** Amount that a hold needs on the counter of one value, in milli-credits. */
export interface DefaultUse {
  number: number;
  name: string;
  value: string;
  limit: number;
  window: BudgetWindow;
  millicredits: number;
}

/** An amount that counters reserve for a run until its hold is settled. */
export interface Reservation {
  /** Unique for each attempt. */
  id: string;
  uses: DefaultUse[];
}

/** A settled reservation that must be moved from the account's outbox to its counters. */
export interface SettledReservation extends DefaultReservation {
  captured: number;
}

/** Returns the default budget of a metadata value; undefined if the value has its own budget or there is no default budget. */
export const defaultFor = (budgets: readonly Budget[], name: string, value: string): Budget | undefined => {
  const sameName = budgets.filter(({ scope }) => scope.type === "metadata" && scope.name === name);
  return sameName.some(({ scope }) => !isDefault(scope) && scope.value === value)
    ? undefined
    : sameName.find(({ scope }) => isDefault(scope));
};

/** Returns the uses of default budgets by a run that holds an amount. */
export const usesOf = (budgets: readonly Budget[], subject: Subject | undefined, millicredits: number): DefaultUse[] =>
  subject && millicredits > 0 && budgets.some(({ scope }) => isDefault(scope))
    ? Object.entries(subject.metadata).flatMap(([name, value]) => {
        const budget = defaultFor(budgets, name, value);
        return budget ? [{ number: budget.number, name, value, limit: budget.limit, window: budget.window, millicredits }] : [];
      })
    : [];

/** Returns the id of one value's counter in the window that contains a time. Parts are escaped, so that no two counters share an id. */
export const counterId = (userId: string, { number, value, window }: Pick<DefaultUse, "number" | "value" | "window">, at: Date): string =>
  [userId, String(number), window, windowStart(window, at).toISOString(), value].map(encodeURIComponent).join(":");

/** True if a reservation suffices under the current limits. */
export const suffices = (reservation: Reservation, uses: readonly DefaultUse[]): boolean =>
  uses.every((use) =>
    reservation.uses.some(
      ({ number, value, limit, window, millicredits }) =>
        number === use.number && value === use.value && limit === use.limit && window === use.window && millicredits >= use.millicredits,
    ),
  );

/** Returns the counters of a reservation. All uses of one hold have the same amount. */
export const reservedOf = (userId: string, at: Date, { id, uses }: Reservation): DefaultReservation => ({
  id,
  millicredits: uses[0]!.millicredits,
  counters: uses.map((use) => counterId(userId, use, at)),
});

/** Adds a reservation to the counts of a hold. */
export const withReserved = (counted: CountedBudgets | undefined, at: Date, reserved: DefaultReservation): CountedBudgets => ({
  at,
  budgets: [],
  ...counted,
  reserved,
});
