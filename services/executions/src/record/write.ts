import { isDuplicateKey } from "@nodeloom/platform";

/** Acknowledged only once it survives the loss of the server's process: what is promised to a caller, and how a run ended. */
export const DURABLE = { w: "majority", j: true } as const;

/** @returns whether it was inserted; false when there is one with its id */
export const insertOnce = async (insert: Promise<unknown>): Promise<boolean> => {
  try {
    await insert;
    return true;
  } catch (error) {
    if (isDuplicateKey(error)) return false;
    throw error;
  }
};
