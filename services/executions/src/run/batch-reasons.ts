/** Why the platform pauses or ends batches and items. */

/** Reason why a batch was paused or ended by the platform. Clients see `code`. */
export interface BatchReason {
  code: string;
  message: string;
  /**
   * For BUDGET_EXCEEDED: `batch` for `maxCredits`, otherwise the scope of the account's budget. Batches of older versions don't have it.
   */
  scope?: string;
}

/** Reason if the batch's own limit is used up. */
export const OUT_OF_MAX_CREDITS: BatchReason = {
  code: "BUDGET_EXCEEDED",
  scope: "batch",
  message: "the rest of maxCredits isn't enough for another item: resume with a higher limit, or cancel",
};

const PROVIDER_UNAVAILABLE = "PROVIDER_UNAVAILABLE";

/** Reason of a running batch that starts no items while the provider of a model is unavailable. */
export const outageReason = (model: string): BatchReason => ({
  code: PROVIDER_UNAVAILABLE,
  message: `waiting for ${model}: provider unavailable`,
});

/** Reason if the provider stayed unavailable for `TIMING.batchOutage`. */
export const longOutageReason = (model: string, hours: number): BatchReason => ({
  code: PROVIDER_UNAVAILABLE,
  message: `the provider of ${model} was unavailable for ${hours} hours: resume the batch when it is back, or cancel`,
});

/** True if a budget of the account, and not the batch's own limit, paused the batch. */
export const isOutOfBudget = (reason: BatchReason | null): boolean =>
  reason?.code === OUT_OF_MAX_CREDITS.code && reason.scope !== OUT_OF_MAX_CREDITS.scope;
