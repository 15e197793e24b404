import type { SpanKind, SpanOptions } from "@opentelemetry/api";

/**
 * Name and options of a call's span, following OpenTelemetry's conventions.
 * @param path path of the method: `/package.Service/Method`
 */
export const spanOfCall = (path: string, kind: SpanKind): { name: string; options: SpanOptions } => {
  const [, service = "", method = ""] = path.split("/");
  const attributes = { "rpc.system": "grpc", "rpc.service": service, "rpc.method": method };
  return { name: `${service}/${method}`, options: { kind, attributes } };
};
