import { DomainError } from "@nodeloom/kernel";
import type { Refusal } from "./types";

/** A domain error as it travels and is recorded. */
export const refusalOf = ({ kind, reason, message, metadata }: DomainError): Refusal => ({ kind, reason, message, metadata });
export const errorOf = ({ kind, reason, message, metadata }: Refusal): DomainError => new DomainError(kind, reason, message, metadata);
