import { randomUUID } from "node:crypto";
import { DomainError, unavailable } from "@nodeloom/kernel";
import type { Logger, RelayedRows } from "@nodeloom/platform";
import { reservedOf, type DefaultUse, type Reservation } from "./account/budgets/defaults";
import type { ExtendCommand, HoldCommand, HoldReply } from "./account/hold";
import type { CounterStore, DueCounter } from "./counter-store";
import type { GroupCommit } from "./group-commit";

/**
 * If a hold isn't written within this time, its reservation is removed. The time exceeds `HOLD_WITHIN_MS` plus the difference of clocks.
 */
const CHECK_AFTER_MS = 60_000;
/** Maximum time from a reservation to the end of its hold command. */
const HOLD_WITHIN_MS = 20_000;
/** Interval in which a reservation of an open hold is compared with the account. */
const CHECK_AGAIN_MS = 3_600_000;
/** Maximum reservations for one hold. Another reservation is needed only if a budget or the account has changed in the meantime. */
const ATTEMPTS = 5;

export interface ReservationDependencies {
  store: Pick<CounterStore, "reserve" | "settleReservations" | "postpone" | "findDueCounters">;
  groupCommit: Pick<GroupCommit, "submit">;
  logger: Logger;
  clock: () => Date;
}

/** True for an error after which nothing was held. After SERVICE_UNAVAILABLE the outcome is unknown. */
const isRefusal = (error: unknown): boolean => error instanceof DomainError && error.kind !== "unavailable";

/** Holds credits of runs that default budgets count: reserves on the counters, then holds in the account. */
export const createReservations = ({ store, groupCommit, logger, clock }: ReservationDependencies) => {
  /** Cancels a reservation. If that fails, the relay cancels it later. */
  const release = async (userId: string, reservation: Reservation, at: Date): Promise<void> => {
    await store
      .settleReservations([{ ...reservedOf(userId, at, reservation), captured: 0 }])
      .catch((error: unknown) => logger.warn({ err: error, userId }, "a reservation on a default budget is returned later"));
  };

  const reserve = async (userId: string, uses: DefaultUse[], at: Date): Promise<Reservation> => {
    const reservation = { id: randomUUID(), uses };
    const checkAt = new Date(clock().getTime() + CHECK_AFTER_MS);
    try {
      for (const use of uses) await store.reserve(userId, use, { id: reservation.id, millicredits: use.millicredits, checkAt }, at);
    } catch (error) {
      if (uses.length > 1) await release(userId, reservation, at);
      throw error;
    }
    return reservation;
  };

  return {
    /**
     * Creates or extends a hold. Runs that no default budget counts need no additional write.
     * @throws DomainError of the command, or BUDGET_EXCEEDED of a default budget
     */
    hold: async (command: HoldCommand | ExtendCommand, deadlineMs?: number): Promise<HoldReply> => {
      const { userId, at } = command;
      let reply = await groupCommit.submit(command, deadlineMs);
      for (let attempt = 1; "reserve" in reply; attempt += 1) {
        if (attempt > ATTEMPTS) throw unavailable("the budgets of the account change too fast");
        const reservation = await reserve(userId, reply.reserve, at);
        const until = Date.now() + HOLD_WITHIN_MS;
        try {
          reply = await groupCommit.submit({ ...command, reservation }, Math.min(deadlineMs ?? until, until));
        } catch (error) {
          if (isRefusal(error)) await release(userId, reservation, at);
          throw error;
        }
        if ("reserve" in reply) await release(userId, reservation, at);
      }
      return reply;
    },

    /** Reservations that are older than a minute and have no hold, because their process died before the hold. */
    relayed: {
      name: "reservations on default budgets",
      page: (limit, after) => store.findDueCounters(clock(), limit, after?.id),
      signatureOf: ({ id, reservations }) => JSON.stringify([id, reservations[0]]),
      entriesOf: ({ reservations }) => reservations.length,
      staleMs: 0,
      groupOf: ({ userId }) => userId,
      settle: async (due) => {
        const { userId } = due[0]!;
        const ids = due.flatMap(({ reservations }) => reservations.map(({ id }) => id));
        const reservedIds = await groupCommit.submit({ type: "findReserved", userId, at: clock(), ids });
        const checkAt = new Date(clock().getTime() + CHECK_AGAIN_MS);
        for (const { id: counter, reservations } of due)
          for (const { id, millicredits } of reservations) {
            if (reservedIds.has(id)) await store.postpone(counter, id, checkAt);
            else await store.settleReservations([{ id, millicredits, captured: 0, counters: [counter] }]);
          }
        return true;
      },
    } satisfies RelayedRows<DueCounter>,
  };
};
