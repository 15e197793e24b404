import { pino, type Logger } from "pino";
import { requestContext } from "./context";

export type { Logger };

/** Never written to a log, wherever a caller puts them. */
const REDACTED = ["password", "secret", "apiKey", "authorization", "cookie", "key", "value", "webhookSecret"].flatMap((name) => [
  name,
  `*.${name}`,
]);

/** JSON lines on stdout, each with the service's name and, inside a request, its id. */
export const createLogger = (name: string, level = process.env.LOG_LEVEL ?? "info"): Logger =>
  pino({
    name,
    level,
    base: {},
    redact: { paths: [...REDACTED, 'req.headers["x-api-key"]', "req.headers.cookie", "headers.authorization"], censor: "[redacted]" },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    mixin: () => {
      const requestId = requestContext()?.requestId;
      return requestId ? { requestId } : {};
    },
  });
