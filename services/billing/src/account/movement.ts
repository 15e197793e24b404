import type { MovementKind } from "@nodeloom/kernel";
import type { SettledReservation } from "./budgets/defaults";
import type { ClosedHold } from "./held";

export type { MovementKind } from "@nodeloom/kernel";

/**
 * A row of the append-only ledger. Over all rows of an account, the sum of `millicredits` equals its plan, top-up and held credits; the sum
 * of `runs` per model equals what remains of the trial grant.
 */
export interface LedgerRow {
  /** Deterministic by account and movement, so that no movement is written twice. */
  id: string;
  userId: string;
  /** Position among the account's rows, from 1 without gaps. */
  sequence: number;
  kind: MovementKind;
  /** Signed change of available plus held credits. */
  millicredits: number;
  /** Amount that a hold moved from available to held, or a release moved back. */
  movedMillicredits: number;
  /** Runs of a trial grant: granted or returned (positive), used by a hold (negative). */
  runs: number;
  at: Date;
  executionId?: string;
  /** The API key that submitted the execution; absent for a session. */
  keyId?: string;
  model?: string;
  note?: string;
  /** On the first row that closes an execution: the outcome, for calls repeated much later. */
  closed?: ClosedHold;
  /** Reservations to settle when the row leaves the outbox; the ledger has none. */
  settled?: SettledReservation[];
}

/** A row before it has a sequence number. */
export type Movement = Pick<LedgerRow, "id" | "kind"> &
  Partial<Pick<LedgerRow, "millicredits" | "movedMillicredits" | "runs" | "closed" | "settled">> &
  Partial<Pick<LedgerRow, "executionId" | "keyId" | "model" | "note">>;

const idOf = (...parts: string[]): string => parts.map(encodeURIComponent).join(":");

/** Parts are escaped, so that different movements never share an id. */
export const movementId = (userId: string, kind: MovementKind, ...parts: string[]): string => idOf(userId, kind, ...parts);

/** Id of an administrator's movement: unique by reference, whatever its kind. */
export const referencedId = (userId: string, reference: string): string => idOf(userId, "credit", reference);

/** Adds the submitting key to an execution's movements. */
export const byKey = (keyId: string | undefined, movements: readonly Movement[]): Movement[] =>
  movements.map((movement) => (keyId ? { ...movement, keyId } : movement));

export const ledgerRow = (movement: Movement, userId: string, sequence: number, at: Date): LedgerRow => ({
  millicredits: 0,
  movedMillicredits: 0,
  runs: 0,
  ...movement,
  userId,
  sequence,
  at,
});
