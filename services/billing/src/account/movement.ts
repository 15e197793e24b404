import type { MovementKind } from "@nodeloom/kernel";
import type { SettledReservation } from "./budgets/defaults";
import type { ClosedHold } from "./held";

export type { MovementKind } from "@nodeloom/kernel";

/**
 * A row of the append-only ledger. Over all rows of an account, the sum of `millicredits` equals its plan, top-up and held credits. The sum
 * of `runs` for each model equals the remaining runs of the trial grant.
 */
export interface LedgerRow {
  /** Deterministic for account and movement, so that no movement is written twice. */
  id: string;
  userId: string;
  /** Position among the account's rows, starting at 1 without gaps. */
  sequence: number;
  kind: MovementKind;
  /** Signed change of the sum of available and held credits. */
  millicredits: number;
  /** Amount that a hold moves from available to held credits, or that a release moves back. */
  movedMillicredits: number;
  /** Change of a trial grant's runs: positive if granted or returned, negative if used by a hold. */
  runs: number;
  at: Date;
  executionId?: string;
  /** API key that submitted the execution; absent for a session. */
  keyId?: string;
  model?: string;
  note?: string;
  /** On the first row that closes an execution: the outcome, for calls that are repeated much later. */
  closed?: ClosedHold;
  /** Reservations to settle when the row leaves the outbox. Ledger rows don't have them. */
  settled?: SettledReservation[];
}

/** A row before it has a sequence number. */
export type Movement = Pick<LedgerRow, "id" | "kind"> &
  Partial<Pick<LedgerRow, "millicredits" | "movedMillicredits" | "runs" | "closed" | "settled">> &
  Partial<Pick<LedgerRow, "executionId" | "keyId" | "model" | "note">>;

const idOf = (...parts: string[]): string => parts.map(encodeURIComponent).join(":");

/** Parts are escaped, so that different movements never share an id. */
export const movementId = (userId: string, kind: MovementKind, ...parts: string[]): string => idOf(userId, kind, ...parts);

/** Returns the id of an administrator's movement. It is unique for each reference, independent of the kind. */
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
