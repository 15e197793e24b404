import { CONFLICT_ATTEMPTS, DomainError, unavailable } from "@nodeloom/kernel";
import { insertIntoFreePlace } from "@nodeloom/platform";
import type { TakenPlace } from "./schema";

/** Slots of an account, which limit the number of its schedules and hooks. */

export interface OwnPlaces {
  /** Plural noun for messages: `schedules` or `hooks`. */
  what: string;
  limit: number;
  usedPlaces: () => Promise<TakenPlace[]>;
  /** @returns false if the slot was taken in the meantime */
  insert: (place: number) => Promise<boolean>;
}

/**
 * Inserts a schedule or hook into a free slot of its owner.
 * @throws PRECONDITION_FAILED if no slot is free, with the workflows that occupy the slots
 */
export const takePlace = async ({ what, limit, usedPlaces, insert }: OwnPlaces): Promise<number> => {
  let workflows: string[] = [];
  const place = await insertIntoFreePlace({
    places: limit,
    attempts: CONFLICT_ATTEMPTS.trigger,
    usedPlaces: async () => {
      const places = await usedPlaces();
      workflows = [...new Set(places.map(({ workflowSlug }) => workflowSlug))];
      return places.map(({ slot }) => slot);
    },
    insert,
    full: () => {
      const message = `at most ${limit} ${what}; delete one first: they are on ${workflows.join(", ")}`;
      return new DomainError("precondition", "PRECONDITION_FAILED", message, { limit, workflows });
    },
  });
  if (place === undefined) throw unavailable(`too many ${what} are being made at once`);
  return place;
};
