import { hostPort, integer, variables } from "@nodeloom/platform";
import { z } from "zod";
import { ANONYMOUS_REQUESTS_PER_MINUTE, MEDIA_UPLOAD_MS } from "./http/limits";

const MIN_SECRET_CHARS = 16;

/** `true`, `false`, a number of hops, or addresses: Express's trust proxy setting. */
const trustProxy = z
  .string()
  .default("false")
  .transform((value): boolean | number | string => {
    if (value === "true" || value === "false") return value === "true";
    return /^\d+$/.test(value) ? Number(value) : value;
  });

/** `https://media.example.com,https://…`: origins, without paths. */
const origins = z
  .string()
  .default("")
  .transform((value) =>
    value
      .split(",")
      .map((origin) => origin.trim())
      .filter((origin) => origin !== ""),
  )
  .refine(
    (list) => list.every((origin) => URL.canParse(origin) && new URL(origin).origin === origin),
    "must be origins such as https://media.example.com, separated by commas",
  );

/** What the gateway reads from its environment. */
export const gatewayVariables = {
  REDIS_URL: variables.REDIS_URL,
  REDIS_KEY_PREFIX: variables.REDIS_KEY_PREFIX,
  PUBLIC_BASE_URL: variables.PUBLIC_BASE_URL,
  GATEWAY_LISTEN: hostPort().default("127.0.0.1:8080").describe("where the HTTP API listens"),
  SESSION_SECRET: z.string().min(MIN_SECRET_CHARS).describe("signs session cookies"),
  TRUST_PROXY: trustProxy.describe("which proxies may say who the client is: false, true, a number of hops, or addresses"),
  ANONYMOUS_RATE_LIMIT: integer(1).default(ANONYMOUS_REQUESTS_PER_MINUTE).describe("requests per minute and address without a caller"),
  CONSOLE_MEDIA_ORIGINS: origins.describe("origins besides its own that the console shows media from: a bucket, a CDN"),
  REQUEST_TIMEOUT_MS: integer(1).default(MEDIA_UPLOAD_MS).describe("how long a client may take to send a request"),
  IDENTITY_ADDRESS: hostPort().default("127.0.0.1:50051").describe("the identity service"),
  WORKFLOWS_ADDRESS: hostPort().default("127.0.0.1:50052").describe("the workflows service"),
  MODELS_ADDRESS: hostPort().default("127.0.0.1:50053").describe("the models service"),
  BILLING_ADDRESS: hostPort().default("127.0.0.1:50054").describe("the billing service"),
  USAGE_ADDRESS: hostPort().default("127.0.0.1:50055").describe("the usage service"),
  EXECUTIONS_ADDRESS: hostPort().default("127.0.0.1:50056").describe("the executions service"),
  MEDIA_ADDRESS: hostPort().default("127.0.0.1:50057").describe("the media service"),
  MEDIA_HTTP_URL: z.url().default("http://127.0.0.1:8081").describe("media's HTTP side"),
};

export type GatewayConfig = { [K in keyof typeof gatewayVariables]: z.infer<(typeof gatewayVariables)[K]> };
