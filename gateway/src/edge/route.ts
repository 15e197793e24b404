import type { Reason } from "@nodeloom/kernel";
import type { Logger } from "@nodeloom/platform";
import type { Request, Response } from "express";
import type { z } from "zod";
import type { Auth, Caller, Needed } from "../auth/caller";
import type { Body } from "../http/body/kinds";
import type { Protocol } from "../http/protocols";
import type { ParamsSpec } from "../http/schemas";
import type { Gateway } from "./gateway";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/**
 * Whose bucket a request counts in: the caller's, the caller's per `:id`, the client address's, or none. An address's limit per minute is that
 * of all routes without a caller, unless it is given.
 */
export type Limit = "user" | "user+id" | "ip" | "none" | { ip: number | ((gateway: Gateway) => number) };

/** The capability that must be covered; from the path parameters as they were sent. */
export type Capability = string | ((params: Readonly<Record<string, string>>) => string);

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
  "Secrets",
  "Folders",
  "Media",
  "OpenAI",
  "Agents",
  "Apps",
  "Admin",
  "Health",
] as const;
export type Tag = (typeof TAGS)[number];

/** Headers beyond those of every route: that it reads, and that its successful replies have. */
export type RouteHeader = "If-Match" | "Last-Event-ID" | "ETag" | "Link" | "Location";

/** A reply whose body is not JSON alone: schemas by content type, as the request asks. */
export class Content {
  constructor(readonly types: Readonly<Record<string, z.ZodType>>) {}
}

export const content = (types: Readonly<Record<string, z.ZodType>>): Content => new Content(types);

export interface Reply {
  status: number;
  /** Serialized as JSON; RawJson members are written as they are. */
  body?: unknown;
  headers?: Record<string, string>;
}

/** Says that the handler writes the response itself (a stream). */
export const STREAMED = Symbol("streamed");

export interface CallContext<A extends Auth = Auth, P = unknown, Q = unknown, B = unknown> {
  gateway: Gateway;
  params: P;
  query: Q;
  body: B;
  /** The body's top-level members as slices of the text that was sent. */
  members(): ReadonlyMap<string, string>;
  caller: A extends "none" ? undefined : Caller;
  /** Names what is asked for, under an Idempotency-Key; otherwise empty. */
  fingerprint: string;
  /** The id of what this request starts: of its run, or of its work under an Idempotency-Key. Otherwise empty. */
  executionId: string;
  receivedAtMs: number;
  logger: Logger;
  request: Request;
  response: Response;
}

/** One endpoint: the router, the checks and the OpenAPI document all read it. */
export interface RouteDefinition<A extends Auth = Auth, P = unknown, Q = unknown, B = unknown> {
  method: Method;
  /** Express style: `/api/workflows/:slug/run`. */
  path: string;
  operationId: string;
  summary: string;
  description?: string;
  tag: Tag;
  /** `plain` unless given. */
  protocol?: Protocol;
  auth: A;
  /** Each of them must be covered. */
  capability?: Capability | readonly Capability[];
  /** The least a member must be where the request is for an organization. */
  role: Needed;
  limit: Limit;
  params?: ParamsSpec<P>;
  query?: z.ZodType<Q>;
  /** Refuses accounts that await approval. */
  approval?: boolean;
  /** Without it the body is not read. */
  body?: Body<B>;
  /** Starts a run: every reply carries X-Execution-Id. */
  startsRun?: boolean;
  /**
   * Honours Idempotency-Key: `replay` by storing the answer, `once` because the service behind does the work only once,
   * `rebuild` by answering again from what was made under the id that the key stands for.
   */
  idempotent?: "replay" | "once" | "rebuild";
  headers?: readonly RouteHeader[];
  /** Shape of each successful reply; null where there is no body. */
  responses: Readonly<Record<number, z.ZodType | Content | null>>;
  /** Pages of an app's origins may call it: with a visitor's token, or as it is open to anyone. */
  app?: "visitors" | "open";
  /** Codes beyond those that its checks imply. */
  errors?: readonly Reason[];
  example?: unknown;
  handler(context: CallContext<A, P, Q, B>): Promise<Reply | typeof STREAMED>;
}

/** A route of any types, for the table. */
export type Route = RouteDefinition;

/** Declares an endpoint; the handler's context is typed by the schemas. */
export const defineRoute = <A extends Auth, P = unknown, Q = unknown, B = unknown>(definition: RouteDefinition<A, P, Q, B>): Route =>
  definition as unknown as Route;
