import type { MovementKind } from "@nodeloom/kernel";
import type { ClosedHold } from "./held";

export type { MovementKind } from "@nodeloom/kernel";

/**
 * One row of the append-only ledger. Over all rows of an account the sum of `millicredits` is its plan, top-up and held
 * credits, and per model the sum of `runs` is what remains of the trial grant.
 */
export interface LedgerRow {
  /** Deterministic: names the account and the movement, so that no movement can be written twice. */
  id: string;
  userId: string;
  /** Position among the account's rows, from 1 without gaps. */
  sequence: number;
  kind: MovementKind;
  /** Signed change of available + held. */
  millicredits: number;
  /** What a hold took from available to held, or a release gave back. */
  movedMillicredits: number;
  /** Runs of a trial grant: granted or given back (positive), taken by a hold (negative). */
  runs: number;
  at: Date;
  executionId?: string;
  /** The API key that the execution was submitted by; absent for a session's. */
  keyId?: string;
  model?: string;
  note?: string;
  /** On the first row that closes an execution: how it was closed, for answers to calls repeated much later. */
  closed?: ClosedHold;
}

/** A row before its account gives it a sequence number. */
export type Movement = Pick<LedgerRow, "id" | "kind"> &
  Partial<Pick<LedgerRow, "millicredits" | "movedMillicredits" | "runs" | "closed">> &
  Partial<Pick<LedgerRow, "executionId" | "keyId" | "model" | "note">>;

const idOf = (...parts: string[]): string => parts.map(encodeURIComponent).join(":");

/** The id of a movement. Parts are escaped, so that different movements never share an id. */
export const movementId = (userId: string, kind: MovementKind, ...parts: string[]): string => idOf(userId, kind, ...parts);

/** The id of a movement by an administrator: a reference names one, of whatever kind. */
export const referencedId = (userId: string, reference: string): string => idOf(userId, "credit", reference);

/** Movements of an execution that a key submitted. */
export const byKey = (keyId: string | undefined, movements: readonly Movement[]): Movement[] =>
  movements.map((movement) => (keyId ? { ...movement, keyId } : movement));

/** The row of a movement. */
export const ledgerRow = (movement: Movement, userId: string, sequence: number, at: Date): LedgerRow => ({
  millicredits: 0,
  movedMillicredits: 0,
  runs: 0,
  ...movement,
  userId,
  sequence,
  at,
});
