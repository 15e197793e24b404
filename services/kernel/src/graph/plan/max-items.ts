import { LIMITS } from "../../limits";
import type { GraphNode } from "../types";

export const isMaxItems = (value: unknown): value is number =>
  Number.isInteger(value) && (value as number) >= 1 && (value as number) <= LIMITS.fanOutItems;

/** What the author says a list of unknown length has at most. */
export const givenMaxItems = ({ data }: GraphNode): number | undefined => {
  const { maxItems } = data;
  return isMaxItems(maxItems) ? maxItems : undefined;
};
