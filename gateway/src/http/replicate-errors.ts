import { STATUS_CODES } from "node:http";
import type { Reason } from "@nodeloom/kernel";
import { issuesOf, unrepeated, type ErrorReply } from "./errors";

/** Errors in the form of Replicate's API (replicate.com/docs/reference/http), which follows RFC 7807. */

/** Path prefix of Replicate's API. */
export const REPLICATE_PATH = "/replicate/v1/";

/** Statuses that Replicate's libraries expect. */
export const REPLICATE_STATUSES: Partial<Record<Reason, number>> = { INVALID_REQUEST: 422, INVALID_INPUTS: 422 };

const RETRIED: ReadonlySet<number> = new Set([429, 503, 504]);

/** Replicate's libraries call `inputs.prompt` `input.prompt`. */
const fieldOf = (path: string): string => path.replace(/^inputs(?=\.|$)/, "input");

/**
 * Error for Replicate's libraries: `{title, detail, status}`, plus the other members of the plain error, and `invalid_fields` for an
 * invalid body (422). After a run was accepted, the status is one that the libraries don't retry.
 */
export const asReplicateError = ({ status: plain, headers, body }: ErrorReply): ErrorReply => {
  const { error: message, ...rest } = body;
  const issues = issuesOf(rest);
  const fields = issues.map(({ path, message: description }) => ({ type: "invalid", field: fieldOf(path), description }));
  const isInvalid = issues.length > 0;
  const status = unrepeated(REPLICATE_STATUSES[rest.code as Reason] ?? plain, RETRIED, rest);
  const title = isInvalid ? "Input validation failed" : (STATUS_CODES[status] ?? "Error");
  const detail = isInvalid
    ? fields.map(({ field, description }) => `- ${field === "" ? "" : `${field}: `}${description}\n`).join("")
    : message;
  return { status, headers, body: { title, detail, status, ...(isInvalid ? { invalid_fields: fields } : {}), ...rest } };
};
