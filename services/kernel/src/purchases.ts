/** Whole credits that one purchase may have. */
export const PURCHASE_BOUNDS = { minCredits: 500, maxCredits: 100_000 } as const;
