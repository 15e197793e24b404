import type { Reason } from "@nodeloom/kernel";
import type { ErrorReply } from "./errors";
import { asFalError, FAL_PATH, FAL_STATUSES } from "./fal-errors";
import { asRpcError } from "./mcp-errors";
import { asOpenAiError, OPENAI_PATH } from "./openai-errors";
import { asReplicateError, REPLICATE_PATH, REPLICATE_STATUSES } from "./replicate-errors";

/** Protocols of routes. */
export type Protocol = "plain" | "openai" | "mcp" | "fal" | "replicate";

export interface ProtocolTraits {
  /** Schemes of `Authorization` for keys, besides `x-api-key`. */
  keySchemes: readonly string[];
  /** Rejects requests from pages of other origins, even with valid credentials. */
  refusesOtherOrigins: boolean;
  /** Runs follow the Prefer header. */
  readsPrefer: boolean;
  /** Converts an error to the protocol's form. */
  asError(plain: ErrorReply): ErrorReply;
  /** Statuses that differ from those of the plain form. */
  statuses: Partial<Record<Reason, number>>;
  /** Name of the error's schema in the OpenAPI document. */
  errorSchema: string;
}

const PLAIN: ProtocolTraits = {
  keySchemes: [],
  refusesOtherOrigins: false,
  readsPrefer: true,
  asError: (plain) => plain,
  statuses: {},
  errorSchema: "Error",
};

export const PROTOCOLS: Readonly<Record<Protocol, ProtocolTraits>> = {
  plain: PLAIN,
  openai: { ...PLAIN, keySchemes: ["Bearer"], readsPrefer: false, asError: asOpenAiError, errorSchema: "OpenAiError" },
  mcp: { ...PLAIN, keySchemes: ["Bearer"], refusesOtherOrigins: true, asError: asRpcError, errorSchema: "McpError" },
  fal: {
    ...PLAIN,
    keySchemes: ["Key", "Bearer"],
    readsPrefer: false,
    asError: asFalError,
    statuses: FAL_STATUSES,
    errorSchema: "FalError",
  },
  // Libraries before 2024 send `Token`.
  replicate: {
    ...PLAIN,
    keySchemes: ["Bearer", "Token"],
    asError: asReplicateError,
    statuses: REPLICATE_STATUSES,
    errorSchema: "ReplicateError",
  },
};

/** The OpenAI API has unversioned paths, so versioned ones are unknown routes. */
const VERSIONED_PATH = `${OPENAI_PATH}api/`;

/** Protocol of a path without a route. */
export const protocolOf = (path: string): Protocol => {
  if (path.startsWith(FAL_PATH)) return "fal";
  if (path.startsWith(REPLICATE_PATH)) return "replicate";
  return path.startsWith(OPENAI_PATH) && !path.startsWith(VERSIONED_PATH) ? "openai" : "plain";
};
