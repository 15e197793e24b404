import { pino, type DestinationStream, type Logger } from "pino";
import { activeTraceId, requestContext } from "./context";
import { redactLine } from "./redaction";

export type { Logger };

/** Members that are removed near the top level of a line. `redactLine` finds secrets in texts at any depth. */
const REDACTED = ["password", "secret", "secrets", "apiKey", "authorization", "cookie", "key", "value", "webhookSecret"].flatMap((name) => [
  name,
  `*.${name}`,
]);

/** Logs JSON lines to stdout with the service's name and the request's ids. Secrets are redacted. */
export const createLogger = (name: string, level = process.env.LOG_LEVEL || "info", destination?: DestinationStream): Logger =>
  pino(
    {
      name,
      level,
      base: {},
      redact: { paths: REDACTED, censor: "[redacted]" },
      hooks: { streamWrite: redactLine },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      mixin: () => {
        const { requestId, executionId } = requestContext() ?? {};
        const traceId = activeTraceId();
        return {
          ...(requestId ? { requestId } : {}),
          ...(executionId ? { execution_id: executionId } : {}),
          ...(traceId ? { trace_id: traceId } : {}),
        };
      },
    },
    destination ?? pino.destination(),
  );
