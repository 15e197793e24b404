import { STATUS_CODES } from "node:http";
import type { Reason } from "@nodeloom/kernel";
import { unrepeated, type ErrorReply } from "./errors";

/** Errors in the form of Replicate's API (replicate.com/docs/reference/http), which follows RFC 7807. */

/** Where Replicate's API is. */
export const REPLICATE_PATH = "/replicate/v1/";

/** Statuses that Replicate's libraries expect. */
export const REPLICATE_STATUSES: Partial<Record<Reason, number>> = { INVALID_REQUEST: 422, INVALID_INPUTS: 422 };

const RETRIED: ReadonlySet<number> = new Set([429, 503, 504]);

interface Issue {
  path?: unknown;
  message?: unknown;
}

/** `inputs.prompt` is `input.prompt` there. */
const fieldOf = ({ path }: Issue): string => String(path ?? "").replace(/^inputs(?=\.|$)/, "input");

/**
 * An error as a library of Replicate's reads it: `{title, detail, status}`, with `invalid_fields` where the body is wrong (422), and
 * what else the error says beside these. One after a run was accepted has no status that the libraries repeat.
 */
export const asReplicateError = ({ status: plain, headers, body }: ErrorReply): ErrorReply => {
  const { error: message, ...rest } = body;
  const issues = Array.isArray(rest.issues) ? (rest.issues as Issue[]) : [];
  const isInvalid = issues.length > 0;
  const status = unrepeated(REPLICATE_STATUSES[rest.code as Reason] ?? plain, RETRIED, rest);
  const title = isInvalid ? "Input validation failed" : (STATUS_CODES[status] ?? "Error");
  const detail = isInvalid ? issues.map((issue) => `- ${fieldOf(issue)}: ${String(issue.message)}\n`).join("") : message;
  const fields = issues.map((issue) => ({ type: "invalid", field: fieldOf(issue), description: String(issue.message) }));
  return { status, headers, body: { title, detail, status, ...(isInvalid ? { invalid_fields: fields } : {}), ...rest } };
};
