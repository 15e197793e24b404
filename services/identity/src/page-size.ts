import { invalidRequest } from "@nodeloom/kernel";

export const PAGE_DEFAULT = 50;
export const PAGE_MAX = 500;

/** Validates a page size. 0 means the default. */
export const pageSize = (limit: number): number => {
  if (limit < 0 || limit > PAGE_MAX) throw invalidRequest([{ path: "limit", message: `must be between 1 and ${PAGE_MAX}` }]);
  return limit || PAGE_DEFAULT;
};
