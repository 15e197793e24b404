import { DomainError, findingInWords, type GraphIssue } from "@nodeloom/kernel";
import type { Refusal } from "./types";

/** Converts a domain error to serializable form. */
export const refusalOf = ({ kind, reason, message, metadata }: DomainError): Refusal => ({ kind, reason, message, metadata });
export const errorOf = ({ kind, reason, message, metadata }: Refusal): DomainError => new DomainError(kind, reason, message, metadata);

const FIELD = /^[A-Za-z]\w{0,39}(?=:)/;

const withoutValue = ({ nodeId, message }: GraphIssue): GraphIssue => {
  const field = FIELD.exec(message)?.[0];
  return { nodeId, ...findingInWords("SETTING_INVALID", field === undefined ? "can't run" : `${field}: can't be used`, field) };
};

/** Returns the problems of a graph for a caller who can't read it: nodes and fields without values. */
export const withoutValues = (refusal: Refusal): Refusal => {
  if (refusal.reason !== "WORKFLOW_INVALID") return refusal;
  const issues = ((refusal.metadata.issues ?? []) as GraphIssue[]).map(withoutValue);
  const messages = issues.map(({ nodeId, message }) => (nodeId === null ? message : `${nodeId}: ${message}`));
  return { ...refusal, message: `the workflow can't run: ${messages.join("; ")}`, metadata: { issues } };
};

/** @param wish clause that starts with "it can't" @throws SOURCE_ERASED for a run or batch with a retention of 0 days */
export const checkNotEmptied = ({ retentionDays }: { retentionDays?: number | undefined }, wish: string): void => {
  if (retentionDays !== 0) return;
  const message = `${wish}: with retentionDays 0, everything but its status and its result is removed at its end`;
  throw new DomainError("conflict", "SOURCE_ERASED", message);
};
