import type { Reason } from "@nodeloom/kernel";
import { issuesOf, unrepeated, type ErrorReply } from "./errors";

/** Errors in the form of fal's API (fal.ai/docs/model-apis/errors), which its libraries read. */

/** Path prefix of fal's API. */
export const FAL_PATH = "/fal/";

/** Statuses that fal's libraries expect: for an invalid body they expect a ValidationError. */
export const FAL_STATUSES: Partial<Record<Reason, number>> = { INVALID_REQUEST: 422, INVALID_INPUTS: 422, EXECUTION_CANCELLED: 499 };

/** Statuses after which fal's libraries retry a request. */
const RETRIED: ReadonlySet<number> = new Set([408, 409, 429, 502, 503, 504]);

interface Detail {
  loc: string[];
  msg: string;
  type: string;
}

const detailsOf = (body: ErrorReply["body"]): Detail[] =>
  issuesOf(body).map(({ path, message }) => ({
    loc: ["body", ...path.split(".").filter((part) => part !== "" && part !== "inputs")],
    msg: message,
    type: "value_error",
  }));

/**
 * Error for fal's libraries: `{detail, error_type}`, plus the other members of the plain error. `detail` is a sentence, or for 422 a list
 * of the body's errors.
 */
export const asFalError = ({ status, headers, body }: ErrorReply): ErrorReply => {
  const { error: message, code, ...rest } = body;
  const details = detailsOf(rest);
  const type = code === "EXECUTION_CANCELLED" ? "client_cancelled" : code;
  return {
    status: unrepeated(FAL_STATUSES[code as Reason] ?? status, RETRIED, body),
    headers: { ...headers, ...(typeof type === "string" ? { "x-fal-error-type": type } : {}) },
    body: { detail: details.length > 0 ? details : message, error_type: type, code, ...rest },
  };
};
