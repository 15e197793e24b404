import type { ErrorReply } from "./errors";

/** Errors in the form of JSON-RPC 2.0, as the Model Context Protocol requires. */

/** JSON-RPC error codes for malformed messages, and the first server-defined one. */
export const RPC_CODES = { invalidRequest: -32_600, invalidParams: -32_602, server: -32_000, sessionNotFound: -32_001 } as const;

const BAD_REQUEST = 400;
const NOT_FOUND = 404;

const codeOf = (status: number): number => {
  if (status === BAD_REQUEST) return RPC_CODES.invalidRequest;
  return status === NOT_FOUND ? RPC_CODES.sessionNotFound : RPC_CODES.server;
};

/** Error of a whole HTTP request, without a message id. */
export const asRpcError = ({ status, headers, body }: ErrorReply): ErrorReply => {
  const { error: message, ...data } = body;
  const challenge: Record<string, string> = headers["WWW-Authenticate"] === undefined ? {} : { "WWW-Authenticate": "Bearer" };
  return {
    status,
    headers: { ...headers, ...challenge },
    body: { jsonrpc: "2.0", id: null, error: { code: codeOf(status), message, data } },
  };
};
