/**
 * Money is integers inside: milli-credits (1 credit = 1,000) and micro-dollars (1 USD = 1,000,000).
 * 1 credit = 0.01 USD, so 1 milli-credit = 10 micro-dollars. Floats exist only at the JSON edge.
 */
export const MILLICREDITS_PER_CREDIT = 1_000;
export const MICRO_USD_PER_USD = 1_000_000;
const MICRO_USD_PER_MILLICREDIT = 10;
const PERMILLE = 1_000;
const TOKENS_PER_PRICE_UNIT = 1_000_000;

/** What the user pays for a wholesale cost: cost × markup, in whole micro-dollars, rounded up. */
export const userCostMicroUsd = (costMicroUsd: number, markupPermille: number): number =>
  Math.ceil((costMicroUsd * markupPermille) / PERMILLE);

/** Credits for a wholesale cost under a tier's markup, rounded up to 0.001 credit. */
export const millicreditsFor = (costMicroUsd: number, markupPermille: number): number =>
  Math.ceil((costMicroUsd * markupPermille) / (PERMILLE * MICRO_USD_PER_MILLICREDIT));

/** Credits for a unit (an image, a second, a million tokens) under a tier's markup: exact, since only what a call costs is rounded up. */
export const unitCredits = (unitMicroUsd: number, markupPermille: number): number =>
  (unitMicroUsd * markupPermille) / (PERMILLE * MICRO_USD_PER_MILLICREDIT * MILLICREDITS_PER_CREDIT);

/** Wholesale cost of a number of tokens, in whole micro-dollars, rounded up. */
export const tokenCostMicroUsd = (tokens: number, microUsdPerMillion: number): number =>
  Math.ceil((tokens * microUsdPerMillion) / TOKENS_PER_PRICE_UNIT);

/** Credits as clients see them. */
export const toCredits = (millicredits: number): number => millicredits / MILLICREDITS_PER_CREDIT;

/** Milli-credits of a client's number of credits, rounded to the nearest. */
export const fromCredits = (credits: number): number => Math.round(credits * MILLICREDITS_PER_CREDIT);

/** Whole milli-credits that are no more than a client's number of credits: for limits. */
export const creditLimit = (credits: number): number => {
  const nearest = fromCredits(credits);
  return toCredits(nearest) > credits ? nearest - 1 : nearest;
};

/** US dollars as clients see them. */
export const toUsd = (microUsd: number): number => microUsd / MICRO_USD_PER_USD;

/** Micro-dollars of a number of US dollars, rounded to the nearest. */
export const fromUsd = (usd: number): number => Math.round(usd * MICRO_USD_PER_USD);
