import { LIMITS } from "../../limits";
import type { GraphNode } from "../types";

export const isMaxItems = (value: unknown): value is number =>
  Number.isInteger(value) && (value as number) >= 1 && (value as number) <= LIMITS.fanOutItems;

/** The author's limit for a list of unknown length. */
export const givenMaxItems = ({ data }: GraphNode): number | undefined => {
  const { maxItems } = data;
  return isMaxItems(maxItems) ? maxItems : undefined;
};
