import { amountCounter } from "@nodeloom/platform";
import type { LedgerRow } from "./account/movement";

const MILLICREDITS = 1_000;

const moved = amountCounter("nodeloom.credits", "credits that moved, by kind of movement");

/** Counts each committed row once, in the process that wrote it. */
export const countMovements = (rows: readonly LedgerRow[]): void => {
  for (const { kind, millicredits, movedMillicredits } of rows)
    moved(Math.abs(millicredits || movedMillicredits) / MILLICREDITS, { movement: kind });
};
