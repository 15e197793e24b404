import type { Reason } from "@nodeloom/kernel";
import type { Logger } from "@nodeloom/platform";
import type { Request, Response } from "express";
import type { z } from "zod";
import type { Auth, Caller, NeededRole } from "../auth/caller";
import type { Body } from "../http/body/kinds";
import type { Protocol } from "../http/protocols";
import type { ParamsSpec } from "../http/schemas";
import type { Gateway } from "./gateway";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/**
 * Bucket of a request: the caller's, the caller's per `:id`, the address's, or none. Addresses have the default limit of routes without a
 * caller, unless one is given.
 */
export type Limit = "user" | "user+id" | "ip" | "none" | { ip: number | ((gateway: Gateway) => number) };

/** Required capability: one, one of several, or one from the raw path parameters. */
export type Capability = string | { anyOf: readonly string[] } | ((params: Readonly<Record<string, string>>) => string);

export const TAGS = [
  "Workflows",
  "Runs",
  "Schedules and hooks",
  "Batches",
  "Models",
  "Executions",
  "Usage",
  "Budgets",
  "Billing",
  "Identity",
  "Organizations",
  "Keys",
  "Webhook endpoints",
  "Secrets",
  "Folders",
  "Media",
  "OpenAI",
  "fal",
  "Replicate",
  "Agents",
  "Apps",
  "Admin",
  "Health",
] as const;
export type Tag = (typeof TAGS)[number];

/** Further request headers that the route reads, and headers of its successful replies. */
export type RouteHeader = "If-Match" | "Last-Event-ID" | "ETag" | "Link" | "Location";

/** A reply that isn't only JSON: schemas by content type, chosen by the request. */
export class Content {
  constructor(readonly types: Readonly<Record<string, z.ZodType>>) {}
}

export const content = (types: Readonly<Record<string, z.ZodType>>): Content => new Content(types);

export interface Reply {
  status: number;
  /** Serialized as JSON. RawJson members are written unchanged. */
  body?: unknown;
  headers?: Record<string, string>;
}

/** The handler writes the response itself as a stream. */
export const STREAMED = Symbol("streamed");

export interface CallContext<A extends Auth = Auth, P = unknown, Q = unknown, B = unknown> {
  gateway: Gateway;
  params: P;
  query: Q;
  body: B;
  /** Top-level members of the body as slices of the sent text. */
  members(): ReadonlyMap<string, string>;
  caller: A extends "none" ? undefined : Caller;
  /** Hash of the request under an Idempotency-Key; otherwise empty. */
  fingerprint: string;
  /** Id of the run, or of the work under an Idempotency-Key; otherwise empty. */
  executionId: string;
  receivedAtMs: number;
  logger: Logger;
  request: Request;
  response: Response;
}

/** One endpoint. The router, the checks and the OpenAPI document are built from it. */
export interface RouteDefinition<A extends Auth = Auth, P = unknown, Q = unknown, B = unknown> {
  method: Method;
  /** Express style: `/api/workflows/:slug/run`, or `/fal/*endpoint` for one or more segments. */
  path: string;
  operationId: string;
  summary: string;
  description?: string;
  tag: Tag;
  /** `plain` by default. */
  protocol?: Protocol;
  auth: A;
  /** The caller needs all of them. */
  capability?: Capability | readonly Capability[];
  /** Capability of `BY_NAME` that admits a key to a route for sessions. */
  keyCapability?: string;
  /** Minimum role if the request is for an organization. */
  role: NeededRole;
  limit: Limit;
  params?: ParamsSpec<P>;
  query?: z.ZodType<Q>;
  /** Rejects accounts without approval. */
  approval?: boolean;
  /** If absent, the body isn't read. */
  body?: Body<B>;
  /** True if it starts a run: every reply then has X-Execution-Id. */
  startsRun?: boolean;
  /**
   * Effect of an Idempotency-Key: `replay` stores the response; `once` relies on the service to do the work once; `rebuild` builds the
   * response again from the resource with the key's id.
   */
  idempotent?: "replay" | "once" | "rebuild";
  headers?: readonly RouteHeader[];
  /** Schema of each successful reply; null if it has no body. */
  responses: Readonly<Record<number, z.ZodType | Content | null>>;
  /** Cross-origin access from an app's origins: with a visitor's token, or open to anyone. */
  app?: "visitors" | "open";
  /** Codes beyond those that the checks imply. */
  errors?: readonly Reason[];
  example?: unknown;
  handler(context: CallContext<A, P, Q, B>): Promise<Reply | typeof STREAMED>;
}

/** A route with erased types, for the table. */
export type Route = RouteDefinition;

/** Declares an endpoint; the schemas type the handler's context. */
export const defineRoute = <A extends Auth, P = unknown, Q = unknown, B = unknown>(definition: RouteDefinition<A, P, Q, B>): Route =>
  definition as unknown as Route;
