/** Ratings from 1 to 5 by execution, stored in this browser. */
const KEY = "nodeloom.ratings";
const KEPT = 500;

export const MOST_STARS = 5;
export type Ratings = Readonly<Record<string, number>>;

export const readRatings = (): Ratings => {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    if (typeof stored !== "object" || stored === null) return {};
    return Object.fromEntries(Object.entries(stored).filter(([, stars]) => Number.isInteger(stars) && stars >= 1 && stars <= MOST_STARS));
  } catch {
    return {};
  }
};

/** @param stars 0 removes the rating */
export const rate = (ratings: Ratings, executionId: string, stars: number): Ratings => {
  const { [executionId]: _before, ...others } = ratings;
  const next = stars === 0 ? others : { ...others, [executionId]: stars };
  try {
    localStorage.setItem(KEY, JSON.stringify(Object.fromEntries(Object.entries(next).slice(-KEPT))));
  } catch {
    // Without storage, ratings are lost with the page.
  }
  return next;
};
