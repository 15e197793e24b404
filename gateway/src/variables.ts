import { isIP } from "node:net";
import { addressVariables, hostPort, integer, list, variables, type ConfigOf, type ProcessConfig } from "@nodeloom/platform";
import { z } from "zod";
import { TEMPORAL_UI_PATH } from "./http/temporal-ui-path";
import { ANONYMOUS_REQUESTS_PER_MINUTE, BODY_MS, MEDIA_UPLOAD_MS, REGISTRATIONS_PER_MINUTE } from "./http/limits";

const MIN_SECRET_CHARS = 16;

const MAX_HOPS = 32;
const NAMED_RANGES: ReadonlySet<string> = new Set(["loopback", "linklocal", "uniquelocal"]);
const PREFIX_BITS = { 4: 32, 6: 128 } as const;

/** An address, or a range as `address/bits`. */
const isRange = (text: string): boolean => {
  const [address = "", bits, ...more] = text.split("/");
  const family = isIP(address) as 0 | 4 | 6;
  if (family === 0 || more.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= PREFIX_BITS[family]);
};

/** Express's trust proxy setting: the number of proxies, or their addresses. Trusting all peers would let clients choose their address. */
const trustProxy = z
  .string()
  .default("0")
  .transform((value): number | string[] => {
    if (value === "" || value === "false") return 0;
    return /^\d+$/.test(value) ? Number(value) : value.split(",").map((part) => part.trim());
  })
  .refine(
    (trusted) => (typeof trusted === "number" ? trusted <= MAX_HOPS : trusted.every((part) => NAMED_RANGES.has(part) || isRange(part))),
    `must be a number of hops (0 to ${MAX_HOPS}), or addresses and ranges, comma separated; \`true\` would believe what any client says of itself`,
  );

/** `https://media.example.com,https://…`: origins without paths. */
const origins = list().refine(
  (allowedOrigins) => allowedOrigins.every((origin) => URL.canParse(origin) && new URL(origin).origin === origin),
  "must be origins such as https://media.example.com, separated by commas",
);

export const gatewayVariables = {
  REDIS_URL: variables.REDIS_URL,
  REDIS_KEY_PREFIX: variables.REDIS_KEY_PREFIX,
  PUBLIC_BASE_URL: variables.PUBLIC_BASE_URL,
  FORMER_PUBLIC_BASE_URLS: variables.FORMER_PUBLIC_BASE_URLS,
  GATEWAY_LISTEN: hostPort().default("127.0.0.1:8080").describe("address of the HTTP API"),
  SESSION_SECRET: z
    .string()
    .min(MIN_SECRET_CHARS)
    .describe("secret that signs session cookies, agents' session ids and app visitors' tokens. Changing it signs everyone out"),
  TRUST_PROXY: trustProxy.describe(
    "which proxies may say who the client is: a number of hops, or their addresses and ranges, comma separated",
  ),
  ANONYMOUS_RATE_LIMIT: integer(1)
    .default(ANONYMOUS_REQUESTS_PER_MINUTE)
    .describe("requests per minute and address without a key or session"),
  REGISTRATION_RATE_LIMIT: integer(1).default(REGISTRATIONS_PER_MINUTE).describe("accounts that one address can register per minute"),
  CONSOLE_MEDIA_ORIGINS: origins.describe("other origins from which the console shows media, such as a bucket or a CDN"),
  ADMIN_LISTEN: hostPort()
    .optional()
    .describe(
      "address at which the gateway serves Temporal's UI to administrators, with `TEMPORAL_UI_URL`. Without it, the UI isn't served",
    ),
  ADMIN_BASE_URL: z
    .url()
    .optional()
    .describe(
      "that listener as browsers see it, on the host of `PUBLIC_BASE_URL`; unless given, that host with the port of `ADMIN_LISTEN`",
    ),
  TEMPORAL_UI_URL: z
    .url()
    .refine((url) => new URL(url).pathname.replace(/\/$/, "") === TEMPORAL_UI_PATH, `must end with ${TEMPORAL_UI_PATH}`)
    .optional()
    .describe("Temporal's UI, which must use that path (`TEMPORAL_UI_PUBLIC_PATH=/temporal`)"),
  TEMPORAL_UI_WRITES: z
    .stringbool()
    .default(false)
    .describe("true: administrators can terminate, signal and reset workflows in Temporal's UI"),
  TEMPORAL_NAMESPACE: z.string().default("default").describe("Temporal namespace of the runs, for links to them"),
  MCP_FIXTURES: z
    .stringbool()
    .default(false)
    .describe(
      "true: MCP also has the tools, resources and prompts that the protocol's conformance suite expects. For tests, and refused in production",
    ),
  REQUEST_TIMEOUT_MS: integer(1).default(MEDIA_UPLOAD_MS).describe("time limit for sending an upload"),
  BODY_TIMEOUT_MS: integer(1).default(BODY_MS).describe("time limit for sending any other body"),
  ...addressVariables("gateway"),
  MEDIA_HTTP_URL: z.url().default("http://127.0.0.1:8081").describe("HTTP address of media"),
};

export type GatewayConfig = ConfigOf<typeof gatewayVariables>;

/** @throws Error in production */
export const mcpFixtures = ({ MCP_FIXTURES, NODE_ENV }: Pick<GatewayConfig, "MCP_FIXTURES"> & Pick<ProcessConfig, "NODE_ENV">): boolean => {
  if (MCP_FIXTURES && NODE_ENV === "production")
    throw new Error("MCP_FIXTURES is for tests: remove it, or set NODE_ENV to test or development");
  return MCP_FIXTURES;
};
