import type { Operations } from "./api-types";

export type OperationId = keyof Operations;

export interface RequestOptions {
  /** Aborts the request and all of its waits. */
  signal?: AbortSignal | undefined;
  /** For POST; random by default. The service runs requests with the same key and body once. */
  idempotencyKey?: string | undefined;
  /** Additional headers: `if-match`, `prefer`, … */
  headers?: Readonly<Record<string, string>> | undefined;
}

export interface Parts {
  params?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, unknown>>;
  body?: unknown;
}
export interface Operation {
  method: string;
  path: string;
  idempotent: boolean;
  contentType: string | null;
}

/** POST operations without Idempotency-Key that are safe to repeat. */
const HARMLESS: ReadonlySet<OperationId> = new Set<OperationId>([
  "cancelExecution",
  "quoteWorkflow",
  "quoteModel",
  "quoteWorkflowBatch",
  "quoteModelBatch",
  "quoteRerun",
  "importBundle",
  "login",
  "logout",
]);

export const urlOf = (baseUrl: string, { path }: Operation, { params = {}, query = {} }: Parts): string => {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_match, name: string) => encodeURIComponent(params[name] ?? ""));
  const search = new URLSearchParams(
    Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])) as [string, string][],
  ).toString();
  return `${baseUrl.replace(/(?<!\/)\/+$/, "")}${filled}${search === "" ? "" : `?${search}`}`;
};

export const headersOf = (apiKey: string | undefined, { method, contentType }: Operation, request: RequestOptions & Parts): Headers => {
  const headers = new Headers({ accept: "application/json" });
  if (apiKey !== undefined) headers.set("x-api-key", apiKey);
  // fetch sets a form's content type, because it chooses the boundary.
  if (contentType !== null && request.body !== undefined && !(request.body instanceof FormData)) headers.set("content-type", contentType);
  if (method === "POST") headers.set("idempotency-key", request.idempotencyKey ?? crypto.randomUUID());
  for (const [name, value] of Object.entries(request.headers ?? {})) headers.set(name, value);
  return headers;
};

export const isRepeatable = (id: OperationId, { method, idempotent }: Operation, headers: Headers): boolean => {
  if (idempotent || HARMLESS.has(id) || method === "GET") return true;
  return method === "PUT" && !headers.has("if-match");
};

export const parse = (text: string, headers: Headers): unknown => {
  if (text === "") return undefined;
  return (headers.get("content-type") ?? "").includes("json") ? (JSON.parse(text) as unknown) : text;
};
