export const PURCHASE_BOUNDS = { minCredits: 500, maxCredits: 100_000 } as const;
