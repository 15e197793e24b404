/** Credits that the assistant can spend. Amounts are reserved before a call and settled after it, so the ceiling holds for calls at once. */
export interface Purse {
  /** Credits left below the ceiling; never below 0. */
  left(): number;
  /**
   * Reserves credits for a call.
   * @returns a function that settles the cost once. Without an amount, the cost is unknown and counts as the whole reservation
   */
  reserve(credits: number): (cost?: number) => void;
}

export interface PurseOptions {
  /** The user's limit, in credits. */
  ceiling(): number;
  spent(): number;
  spend(credits: number): void;
}

export const createPurse = ({ ceiling, spent, spend }: PurseOptions): Purse => {
  let reservedCredits = 0;
  return {
    left: () => Math.max(0, ceiling() - spent() - reservedCredits),
    reserve: (credits) => {
      reservedCredits += credits;
      let isSettled = false;
      return (cost = credits) => {
        if (isSettled) return;
        isSettled = true;
        reservedCredits -= credits;
        spend(cost);
      };
    },
  };
};
