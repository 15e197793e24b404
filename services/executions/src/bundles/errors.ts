import { invalidRequest, LIMITS, type DomainError } from "@nodeloom/kernel";

/** @param entry name of the file in the bundle; empty for the whole bundle */
export const invalidBundle = (entry: string, message: string): DomainError =>
  invalidRequest([{ path: entry === "" ? "bundle" : `bundle: ${entry.slice(0, LIMITS.nameChars)}`, message }]);
