import type { ErrorReply } from "./errors";
import { asRpcError } from "./mcp-errors";
import { asOpenAiError, OPENAI_PATH } from "./openai-errors";

/** What a route speaks to its clients. */
export type Protocol = "plain" | "openai" | "mcp";

export interface ProtocolTraits {
  /** Keys come as `Authorization: Bearer`, too. */
  takesBearer: boolean;
  /** Pages of other origins are refused, whatever else their requests carry. */
  refusesOtherOrigins: boolean;
  /** Runs follow the header Prefer. */
  readsPrefer: boolean;
  /** An error in the form that its clients read. */
  asError(plain: ErrorReply): ErrorReply;
  /** That form's name among the schemas of the document. */
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

/** Paths of this API carry no version: these are unknown routes like any other. */
const VERSIONED_PATH = `${OPENAI_PATH}api/`;

/** The protocol of a path outside of its routes, such as an unknown one. */
export const protocolOf = (path: string): Protocol =>
  path.startsWith(OPENAI_PATH) && !path.startsWith(VERSIONED_PATH) ? "openai" : "plain";
