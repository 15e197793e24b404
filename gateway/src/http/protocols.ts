import type { ErrorReply } from "./errors";
import { asRpcError } from "./mcp-errors";
import { asOpenAiError, OPENAI_PATH } from "./openai-errors";

/** Protocols that routes speak. */
export type Protocol = "plain" | "openai" | "mcp";

export interface ProtocolTraits {
  /** Accepts keys as `Authorization: Bearer`. */
  takesBearer: boolean;
  /** Rejects pages of other origins, whatever credentials they send. */
  refusesOtherOrigins: boolean;
  /** Runs follow the Prefer header. */
  readsPrefer: boolean;
  /** Converts an error to the protocol's form. */
  asError(plain: ErrorReply): ErrorReply;
  /** Name of that form's schema in the document. */
  errorSchema: string;
}

const PLAIN: ProtocolTraits = {
  takesBearer: false,
  refusesOtherOrigins: false,
  readsPrefer: true,
  asError: (plain) => plain,
  errorSchema: "Error",
};

export const PROTOCOLS: Readonly<Record<Protocol, ProtocolTraits>> = {
  plain: PLAIN,
  openai: { ...PLAIN, takesBearer: true, readsPrefer: false, asError: asOpenAiError, errorSchema: "OpenAiError" },
  mcp: { ...PLAIN, takesBearer: true, refusesOtherOrigins: true, asError: asRpcError, errorSchema: "McpError" },
};

/** This API has unversioned paths: these are unknown routes like any other. */
const VERSIONED_PATH = `${OPENAI_PATH}api/`;

/** Protocol of a path without a route. */
export const protocolOf = (path: string): Protocol =>
  path.startsWith(OPENAI_PATH) && !path.startsWith(VERSIONED_PATH) ? "openai" : "plain";
