/** What of an account is set aside for executions, and what became of it. */

/** One generator call of a held execution, and where its price comes from. */
export interface HeldItem {
  key: string;
  model: string;
  source: "grant" | "credits";
  /** Held price; 0 for a grant. */
  millicredits: number;
  fromPlan: number;
  fromTopUp: number;
  /** Added after the hold was made: the plan period whose credits it holds. */
  extendedIn?: number;
}

export interface ActiveHold {
  executionId: string;
  at: Date;
  /** The plan period whose credits it holds. */
  period: number;
  /** The most that may be held, extensions included; absent means as much as there is. */
  maxMillicredits?: number;
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
