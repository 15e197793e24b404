/** Holds of executions, and their outcome. */

import type { Counted } from "./budgets/budget";

/** Groups alternative calls: only one call of a group runs. */
export const groupOf = ({ key, alternativeTo }: Pick<HeldItem, "key" | "alternativeTo">): string => alternativeTo || key;

/** One generator call of an execution's hold, and the source of its price. */
export interface HeldItem {
  key: string;
  model: string;
  source: "grant" | "credits";
  /** 0 for a trial grant. */
  millicredits: number;
  fromPlan: number;
  fromTopUp: number;
  /** Key of the call that this one can replace. Of such calls one runs: the most expensive is held, the others hold nothing. */
  alternativeTo?: string;
  /** For an item added later: the plan period whose credits it holds. */
  extendedIn?: number;
  /** Index in the hold's `counted`; absent if no budget counts it. */
  countedIn?: number;
}

export interface ActiveHold {
  executionId: string;
  at: Date;
  /** The plan period whose credits it holds. */
  period: number;
  /** Upper bound of the hold, including extensions; absent for none. */
  maxMillicredits?: number;
  /** The API key that submitted the execution; absent for a session. */
  keyId?: string;
  /** Budgets that count its items; extensions can add entries. */
  counted?: Counted[];
  items: HeldItem[];
}

export interface ClosedItem extends HeldItem {
  captured: number;
  /** True if the grant's run was used. */
  consumed: boolean;
}

/** An execution that is settled, or was cancelled before its hold (voided). */
export interface ClosedHold {
  executionId: string;
  voided: boolean;
  items: ClosedItem[];
}
