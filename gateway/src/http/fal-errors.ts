import type { Reason } from "@nodeloom/kernel";
import { unrepeated, type ErrorReply } from "./errors";

/** Errors in the form of fal's API (fal.ai/docs/model-apis/errors), which its libraries read. */

/** Where fal's API is. */
export const FAL_PATH = "/fal/";

/** Statuses that fal's libraries expect: a body that is wrong is a ValidationError there. */
export const FAL_STATUSES: Partial<Record<Reason, number>> = { INVALID_REQUEST: 422, INVALID_INPUTS: 422, EXECUTION_CANCELLED: 499 };

/** fal's libraries send a request again after these. */
const RETRIED: ReadonlySet<number> = new Set([408, 409, 429, 502, 503, 504]);

interface Detail {
  loc: string[];
  msg: string;
  type: string;
}

const detailsOf = (issues: unknown): Detail[] | undefined => {
  if (!Array.isArray(issues) || issues.length === 0) return undefined;
  return (issues as { path?: unknown; message?: unknown }[]).map(({ path, message }) => ({
    loc: [
      "body",
      ...String(path ?? "")
        .split(".")
        .filter((part) => part !== "" && part !== "inputs"),
    ],
    msg: String(message),
    type: "value_error",
  }));
};

/**
 * An error as a library of fal's reads it: `{detail, error_type}`, where `detail` is a sentence, or a list of what is wrong with the
 * body (with 422), and what else the error says beside these.
 */
export const asFalError = ({ status, headers, body }: ErrorReply): ErrorReply => {
  const { error: message, code, ...rest } = body;
  const type = code === "EXECUTION_CANCELLED" ? "client_cancelled" : code;
  return {
    status: unrepeated(FAL_STATUSES[code as Reason] ?? status, RETRIED, body),
    headers: { ...headers, ...(typeof type === "string" ? { "x-fal-error-type": type } : {}) },
    body: { detail: detailsOf(rest.issues) ?? message, error_type: type, code, ...rest },
  };
};
