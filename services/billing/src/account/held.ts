/** Holds of executions and their outcomes. */

import type { CountedBudgets } from "./budgets/budget";

/** Returns the group of a call. Alternative calls form a group, and only one of them runs. */
export const groupOf = ({ key, alternativeTo }: Pick<HeldItem, "key" | "alternativeTo">): string => alternativeTo || key;

/** A model call in an execution's hold, and the balances that pay for it. */
export interface HeldItem {
  key: string;
  model: string;
  source: "grant" | "credits";
  /** 0 if a trial grant pays for the call. */
  millicredits: number;
  fromPlan: number;
  fromTopUp: number;
  /**
   * Key of the call that this call can replace. Only one of these calls runs. The hold of the group is the highest price, and replacements
   * hold nothing.
   */
  alternativeTo?: string;
  /** For an item added later: plan period whose credits it holds. */
  extendedIn?: number;
  /** Index in the hold's `counted`; absent if no budget counts it. */
  countedIn?: number;
}

export interface ActiveHold {
  executionId: string;
  at: Date;
  /** Plan period whose credits the hold uses. */
  period: number;
  /** Upper bound of the hold, including extensions; absent if there is none. */
  maxMillicredits?: number;
  /** API key that submitted the execution; absent for a session. */
  keyId?: string;
  /** Budgets that count the items. Extensions can add entries. */
  counted?: CountedBudgets[];
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
