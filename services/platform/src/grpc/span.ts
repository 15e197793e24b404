import type { Attributes } from "@opentelemetry/api";

interface CallDescription {
  name: string;
  attributes: Attributes;
}

const described = new Map<string, CallDescription>();

/** What spans of a call are named, as OpenTelemetry names calls. @param path of a method that some service has: each is kept */
export const describeCall = (path: string): CallDescription => {
  const known = described.get(path);
  if (known) return known;
  const [, service = "", method = ""] = path.split("/");
  const attributes = { "rpc.system": "grpc", "rpc.service": service, "rpc.method": method };
  const description = { name: `${service}/${method}`, attributes };
  described.set(path, description);
  return description;
};
