import { invalidRequest } from "@nodeloom/kernel";

export const PAGE_DEFAULT = 50;
export const PAGE_MAX = 500;

/** How many rows a page has; 0 asks for the default. */
export const pageSize = (limit: number): number => {
  if (limit < 0 || limit > PAGE_MAX) throw invalidRequest([{ path: "limit", message: `must be between 1 and ${PAGE_MAX}` }]);
  return limit || PAGE_DEFAULT;
};
