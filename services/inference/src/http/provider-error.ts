import type { ErrorRequestHandler } from "express";
import { type z } from "zod";

/** An error that callers get as `{ error: { message, code, param? } }`. */
export class ProviderError extends Error {
  override readonly name = "ProviderError";
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    /** The invalid member of the request, or the retry delay in seconds. */
    readonly more: { param?: string; retryAfterSeconds?: number } = {},
  ) {
    super(message);
  }
}

export const notFound = (what: string): ProviderError => new ProviderError(404, "not_found", `no such ${what}`);

/**
 * Validates a request body.
 * @param within prefix of member names in errors
 * @throws ProviderError 400 with the first invalid member
 */
export const parseBody = <T>(schema: z.ZodType<T>, body: unknown, within = ""): T => {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = issue?.code === "unrecognized_keys" ? [...issue.path, issue.keys[0]] : (issue?.path ?? []);
  const param = [...(within === "" ? [] : [within]), ...path].join(".") || "body";
  throw new ProviderError(400, "invalid_request", `${param}: ${issue?.message ?? "invalid"}`, { param });
};

const errorBody = (code: string, message: string, param?: string): { error: { message: string; code: string; param?: string } } => ({
  error: { message, code, ...(param === undefined ? {} : { param }) },
});

const httpStatusOf = (error: unknown): number => {
  const status = error instanceof Error && "status" in error ? error.status : undefined;
  return typeof status === "number" && status >= 400 && status < 500 ? status : 500;
};

/** Converts errors to JSON responses. `report` is called with unexpected ones. */
export const answerErrors =
  (report: (error: unknown) => void): ErrorRequestHandler =>
  (error: unknown, _request, response, next) => {
    if (response.headersSent) return next(error);
    if (error instanceof ProviderError) {
      const { param, retryAfterSeconds } = error.more;
      if (retryAfterSeconds !== undefined) response.set("retry-after", String(retryAfterSeconds));
      return void response.status(error.status).json(errorBody(error.code, error.message, param));
    }
    const status = httpStatusOf(error);
    if (status === 413) return void response.status(status).json(errorBody("too_large", "the request body is too large"));
    if (status < 500) return void response.status(status).json(errorBody("invalid_request", "the request could not be read", "body"));
    report(error);
    response.status(status).json(errorBody("internal", "internal error"));
  };
