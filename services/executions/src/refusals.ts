import { DomainError } from "@nodeloom/kernel";
import type { Refusal } from "./contract/run-types";

/** Also of what is another user's, and of what is not decided yet. */
export const executionNotFound = (): DomainError => new DomainError("not_found", "EXECUTION_NOT_FOUND", "execution not found");

/** A domain error as it travels and is recorded. */
export const refusalOf = ({ kind, reason, message, metadata }: DomainError): Refusal => ({ kind, reason, message, metadata });
export const errorOf = ({ kind, reason, message, metadata }: Refusal): DomainError => new DomainError(kind, reason, message, metadata);
