/**
 * Money is stored as integers: milli-credits (1 credit = 1,000) and micro-dollars (1 USD = 1,000,000). 1 credit = 0.01 USD, so 1
 * milli-credit = 10 micro-dollars. Only the JSON API uses floats.
 */
export const MILLICREDITS_PER_CREDIT = 1_000;
export const MICRO_USD_PER_USD = 1_000_000;
const MICRO_USD_PER_MILLICREDIT = 10;
const PERMILLE = 1_000;
const TOKENS_PER_PRICE_UNIT = 1_000_000;

/** Price for the user: cost × markup, in micro-dollars, rounded up. */
export const userCostMicroUsd = (costMicroUsd: number, markupPermille: number): number =>
  Math.ceil((costMicroUsd * markupPermille) / PERMILLE);

/** Milli-credits for a wholesale cost with a tier's markup, rounded up. */
export const millicreditsFor = (costMicroUsd: number, markupPermille: number): number =>
  Math.ceil((costMicroUsd * markupPermille) / (PERMILLE * MICRO_USD_PER_MILLICREDIT));

/** Credits per unit (an image, a second, a million tokens) with a tier's markup. Not rounded: only the cost of a call is rounded up. */
export const unitCredits = (unitMicroUsd: number, markupPermille: number): number =>
  (unitMicroUsd * markupPermille) / (PERMILLE * MICRO_USD_PER_MILLICREDIT * MILLICREDITS_PER_CREDIT);

/** Wholesale cost of tokens in micro-dollars, rounded up. */
export const tokenCostMicroUsd = (tokens: number, microUsdPerMillion: number): number =>
  Math.ceil((tokens * microUsdPerMillion) / TOKENS_PER_PRICE_UNIT);

export const toCredits = (millicredits: number): number => millicredits / MILLICREDITS_PER_CREDIT;

/** Converts credits to milli-credits, rounded to the nearest. */
export const fromCredits = (credits: number): number => Math.round(credits * MILLICREDITS_PER_CREDIT);

/** Converts a limit in credits to milli-credits, rounded down. */
export const creditLimit = (credits: number): number => {
  const nearest = fromCredits(credits);
  return toCredits(nearest) > credits ? nearest - 1 : nearest;
};

export const toUsd = (microUsd: number): number => microUsd / MICRO_USD_PER_USD;

/** Converts dollars to micro-dollars, rounded to the nearest. */
export const fromUsd = (usd: number): number => Math.round(usd * MICRO_USD_PER_USD);
