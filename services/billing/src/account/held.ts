/** What of an account is set aside for executions, and what became of it. */

import type { Counted } from "./budgets/budget";

/** What calls have in common of which only one is made. */
export const groupOf = ({ key, alternativeTo }: Pick<HeldItem, "key" | "alternativeTo">): string => alternativeTo || key;

/** One generator call of a held execution, and where its price comes from. */
export interface HeldItem {
  key: string;
  model: string;
  source: "grant" | "credits";
  /** Held price; 0 for a grant. */
  millicredits: number;
  fromPlan: number;
  fromTopUp: number;
  /** The key of the call that it may be made in place of. Of such calls one is made: the dearest is held, and the others hold nothing. */
  alternativeTo?: string;
  /** Added after the hold was made: the plan period whose credits it holds. */
  extendedIn?: number;
  /** Which of its hold's `counted` it belongs to; absent where it counts on no budget. */
  countedIn?: number;
}

export interface ActiveHold {
  executionId: string;
  at: Date;
  /** The plan period whose credits it holds. */
  period: number;
  /** The most that may be held, extensions included; absent means as much as there is. */
  maxMillicredits?: number;
  /** The API key that the execution was submitted by; absent for a session's. */
  keyId?: string;
  /** The budgets on which its items count: those of the hold, and of extensions where they differ. */
  counted?: Counted[];
  items: HeldItem[];
}

/** A held item and what became of it. */
export interface ClosedItem extends HeldItem {
  captured: number;
  /** Whether the grant's run was used up. */
  consumed: boolean;
}

/** An execution that is settled, or was given up before it was ever held (voided). */
export interface ClosedHold {
  executionId: string;
  voided: boolean;
  items: ClosedItem[];
}
