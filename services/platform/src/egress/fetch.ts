import type { EgressClient } from "./client";

export interface FetchBounds {
  timeoutMs: number;
  maxBytes: number;
}

/** Options that libraries pass to their `fetch`. */
export interface FetchInit {
  method?: string | undefined;
  headers?: ConstructorParameters<typeof Headers>[0];
  body?: unknown;
  signal?: AbortSignal | null | undefined;
}

const BODILESS = new Set([204, 304]);

/** Adapts the guarded client to `fetch` for libraries. Bodies are texts, and responses are read completely. */
export const guardedFetch =
  (egress: EgressClient, bounds: FetchBounds) =>
  async (url: string, { method, headers, body, signal }: FetchInit = {}): Promise<Response> => {
    const answer = await egress.request({
      ...bounds,
      url,
      ...(method === undefined ? {} : { method }),
      headers: Object.fromEntries(new Headers(headers)),
      // Bodies are texts, or URLSearchParams, which are converted to text.
      ...(body === undefined || body === null ? {} : { body: String(body) }),
      ...(signal ? { signal } : {}),
    });
    return new Response(BODILESS.has(answer.status) ? null : new Uint8Array(answer.body), {
      status: answer.status,
      headers: answer.headers,
    });
  };
