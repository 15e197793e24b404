import { LIMITS } from "../../limits";

/** Whether a setting says how many items a list of unknown length has at most. */
export const isMaxItems = (value: unknown): value is number =>
  Number.isInteger(value) && (value as number) >= 1 && (value as number) <= LIMITS.fanOutItems;
