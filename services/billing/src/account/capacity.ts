/** Limits of an account's open holds. Each function returns the error of a hold or extension that would exceed one. */

import { invalidRequest, tooManyRuns, type DomainError } from "@nodeloom/kernel";
import { BILLING_LIMITS } from "../limits";
import type { Account } from "./account";
import { bytesOf } from "./size";

const MEGABYTE = 1024 * 1024;

/** @param most maximum concurrent executions; 0 for no limit */
export const tooManyHolds = ({ holds }: Account, most: number): DomainError | undefined =>
  most > 0 && holds.length >= most ? tooManyRuns(most) : undefined;

/** The number of calls of a single run isn't limited here. */
export const tooManyItems = ({ holds }: Account, more: number): DomainError | undefined => {
  const activeItems = holds.reduce((sum, activeHold) => sum + activeHold.items.length, 0);
  return holds.length > 0 && activeItems + more > BILLING_LIMITS.activeItems ? tooManyRuns(holds.length) : undefined;
};

/** A run whose hold doesn't fit beside those of other runs can be held later. */
export const tooLarge = ({ holds }: Account, after: Account): DomainError | undefined => {
  if (bytesOf(after.holds) <= BILLING_LIMITS.holdBytes) return undefined;
  if (after.holds.length > 1) return tooManyRuns(holds.length);
  const message = `need more than ${BILLING_LIMITS.holdBytes / MEGABYTE} MB: send fewer calls, or shorter keys`;
  return invalidRequest([{ path: "items", message }]);
};
