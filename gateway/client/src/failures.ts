import { NETWORK_ERROR, NodeloomError } from "./errors";

/** Errors of requests. */

/** An address without its query, which can contain a signature, for logs and messages. */
export const withoutQuery = (url: string): string => url.split("?", 1)[0]!;

export const errorOf = (status: number, headers: Headers, body: unknown): NodeloomError => {
  const { error, code, ...details } = (typeof body === "object" && body !== null ? body : {}) as Record<string, unknown>;
  return new NodeloomError({
    status,
    code: typeof code === "string" ? code : undefined,
    message: typeof error === "string" ? error : `the service answered ${status}`,
    details,
    requestId: headers.get("x-request-id") ?? undefined,
  });
};

interface Cause {
  message?: string;
  code?: unknown;
  cause?: unknown;
}

/** The innermost cause, because fetch itself reports only that it failed. Errors of other realms aren't instances of this Error. */
const reasonOf = (error: unknown): string => {
  let inner = (error ?? {}) as Cause;
  while (typeof inner.cause === "object" && inner.cause !== null) inner = inner.cause;
  return inner.message || String(inner.code ?? "");
};

/** The service didn't respond, or stopped in the middle of its response. */
export const unreachable = (cause: unknown, what: string): NodeloomError => {
  const reason = reasonOf(cause);
  const message = `the service could not be reached: ${what}${reason === "" ? "" : ` (${reason})`}`;
  return new NodeloomError({ message, status: 0, code: NETWORK_ERROR, details: { url: what }, cause });
};

/** Node's fetch reports a redirect that isn't followed; other runtimes don't. */
export const isRedirect = (error: unknown): boolean =>
  ((error as { cause?: { message?: unknown } }).cause?.message ?? "") === "unexpected redirect";

export const redirected = (cause: unknown): NodeloomError =>
  new NodeloomError({
    message: "the service answered with a redirect, which would take the key elsewhere: use the service's own address as baseUrl",
    status: 0,
    code: NETWORK_ERROR,
    cause,
  });
