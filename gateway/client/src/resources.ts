import type {
  EndpointDelivery,
  Hook,
  Media,
  MediaFile,
  MediaPage,
  NewHook,
  NewSchedule,
  NewWebhookEndpoint,
  Operations,
  Schedule,
  WebhookEndpoint,
  WebhookEndpointEdit,
  WebhookEndpointWithSecret,
} from "./api-types";
import { NodeloomError } from "./errors";
import { unreachable, withoutQuery } from "./failures";
import type { OperationId, RequestOf, RequestOptions, ResponseOf } from "./transport";

/** Resources of an account beside its workflows and runs. */

export type Call = <O extends OperationId>(operation: O, request: RequestOf<O>) => Promise<ResponseOf<O>>;

export interface Versions {
  /** Newest first; `nextCursor` continues the list. */
  list(slug: string, query?: Operations["listVersions"]["query"], options?: RequestOptions): Promise<ResponseOf<"listVersions">>;
  get(slug: string, version: number, options?: RequestOptions): Promise<ResponseOf<"getVersion">>;
  /** Copies a version into the draft. */
  restore(slug: string, version: number, options?: RequestOptions): Promise<ResponseOf<"restoreVersion">>;
}

export const createVersions = (call: Call): Versions => ({
  list: (slug, query = {}, options = {}) => call("listVersions", { ...options, params: { slug }, query }),
  get: (slug, version, options = {}) => call("getVersion", { ...options, params: { slug, version } }),
  restore: (slug, version, options = {}) => call("restoreVersion", { ...options, params: { slug, version } }),
});

export interface Schedules {
  /** Oldest first. @param slug of a workflow; without it, those of all workflows */
  list(slug?: string, options?: RequestOptions): Promise<Schedule[]>;
  get(slug: string, id: string, options?: RequestOptions): Promise<Schedule>;
  create(slug: string, schedule: NewSchedule, options?: RequestOptions): Promise<Schedule>;
  update(slug: string, id: string, change: RequestOf<"updateSchedule">["body"], options?: RequestOptions): Promise<Schedule>;
  delete(slug: string, id: string, options?: RequestOptions): Promise<void>;
}

export const createSchedules = (call: Call): Schedules => ({
  list: (slug, options = {}) =>
    slug === undefined ? call("listAllSchedules", options) : call("listSchedules", { ...options, params: { slug } }),
  get: (slug, id, options = {}) => call("getSchedule", { ...options, params: { slug, id } }),
  create: (slug, body, options = {}) => call("createSchedule", { ...options, params: { slug }, body }),
  update: (slug, id, body, options = {}) => call("updateSchedule", { ...options, params: { slug, id }, body }),
  delete: async (slug, id, options = {}) => void (await call("deleteSchedule", { ...options, params: { slug, id } })),
});

export interface Hooks {
  /** Oldest first. @param slug of a workflow; without it, those of all workflows */
  list(slug?: string, options?: RequestOptions): Promise<Hook[]>;
  /** The response is the only one that shows the address. */
  create(slug: string, hook: NewHook, options?: RequestOptions): Promise<ResponseOf<"createHook">>;
  delete(slug: string, id: string, options?: RequestOptions): Promise<void>;
}

export const createHooks = (call: Call): Hooks => ({
  list: (slug, options = {}) => (slug === undefined ? call("listAllHooks", options) : call("listHooks", { ...options, params: { slug } })),
  create: (slug, body, options = {}) => call("createHook", { ...options, params: { slug }, body }),
  delete: async (slug, id, options = {}) => void (await call("deleteHook", { ...options, params: { slug, id } })),
});

export interface MediaFiles {
  /** Newest first; `nextCursor` continues the list. */
  list(query?: Operations["listMedia"]["query"], options?: RequestOptions): Promise<MediaPage>;
  /** A file with a new address. */
  get(id: string, options?: RequestOptions): Promise<MediaFile>;
  /** Keeps a generated file until it is deleted. */
  keep(id: string, options?: RequestOptions): Promise<MediaFile>;
  delete(id: string, options?: RequestOptions): Promise<void>;
}

export const createMediaFiles = (call: Call): MediaFiles => ({
  list: (query = {}, options = {}) => call("listMedia", { ...options, query }),
  get: (id, options = {}) => call("getMedia", { ...options, params: { id } }),
  keep: (id, options = {}) => call("keepMedia", { ...options, params: { id } }),
  delete: async (id, options = {}) => void (await call("deleteMedia", { ...options, params: { id } })),
});

export interface WebhookEndpoints {
  list(options?: RequestOptions): Promise<WebhookEndpoint[]>;
  /** Adds an endpoint for all runs of the account. Only this response shows its secret. */
  create(endpoint: NewWebhookEndpoint, options?: RequestOptions): Promise<WebhookEndpointWithSecret>;
  update(id: string, change: WebhookEndpointEdit, options?: RequestOptions): Promise<WebhookEndpoint>;
  delete(id: string, options?: RequestOptions): Promise<void>;
  /** Replaces the secret. Only this response shows the new one. */
  rotate(id: string, options?: RequestOptions): Promise<WebhookEndpointWithSecret>;
  /** Messages to an endpoint, newest first; `nextCursor` reads on. */
  deliveries(
    id: string,
    query?: Operations["listWebhookEndpointDeliveries"]["query"],
    options?: RequestOptions,
  ): Promise<ResponseOf<"listWebhookEndpointDeliveries">>;
  /** Sends a message of the type `webhook.test`, now. `deliveries` shows its result. */
  test(id: string, options?: RequestOptions): Promise<EndpointDelivery>;
  /** Sends a message again, now. */
  redeliver(id: string, deliveryId: string, options?: RequestOptions): Promise<EndpointDelivery>;
}

export const createWebhookEndpoints = (call: Call): WebhookEndpoints => ({
  list: async (options = {}) => (await call("listWebhookEndpoints", options)).endpoints,
  create: (body, options = {}) => call("createWebhookEndpoint", { ...options, body }),
  update: (id, body, options = {}) => call("updateWebhookEndpoint", { ...options, params: { id }, body }),
  delete: async (id, options = {}) => void (await call("deleteWebhookEndpoint", { ...options, params: { id } })),
  rotate: (id, options = {}) => call("rotateWebhookEndpointSecret", { ...options, params: { id } }),
  deliveries: (id, query = {}, options = {}) => call("listWebhookEndpointDeliveries", { ...options, params: { id }, query }),
  test: (id, options = {}) => call("testWebhookEndpoint", { ...options, params: { id } }),
  redeliver: (id, deliveryId, options = {}) => call("redeliverToWebhookEndpoint", { ...options, params: { id, deliveryId } }),
});

/** An address, or an object with one, such as a file of a result. */
export type Downloadable = string | Pick<Media, "url">;

/**
 * Reads a file. Its address contains the right to read it, so no key is sent.
 * @throws NodeloomError
 */
export const createDownload =
  (fetch: typeof globalThis.fetch) =>
  async (file: Downloadable, { signal }: Pick<RequestOptions, "signal"> = {}): Promise<Blob> => {
    const url = typeof file === "string" ? file : file.url;
    const shownUrl = withoutQuery(url);
    try {
      const response = await fetch(url, { signal: signal ?? null });
      if (response.ok) return await response.blob();
      throw new NodeloomError({ message: `${shownUrl} answered ${response.status}`, status: response.status, code: undefined });
    } catch (error) {
      signal?.throwIfAborted();
      throw error instanceof NodeloomError ? error : unreachable(error, shownUrl);
    }
  };
