import type { DomainError, Issue, Reason } from "@nodeloom/kernel";
import type { Logger } from "@nodeloom/platform";
import type { Request, Response } from "express";
import { z } from "zod";
import type { Auth, Caller, Needed } from "../auth/caller";
import type { Gateway } from "./gateway";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** Whose bucket a request counts in: the caller's, the caller's per `:id`, the client address's, or none. */
export type Limit = "user" | "user+id" | "ip" | "none";

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

/** Path parameters: their form, and the error of a value that cannot name anything. */
export interface ParamsSpec<P> {
  schema: z.ZodType<P>;
  invalid(): DomainError;
}

export type ReplyHeader = "ETag" | "Link" | "Location";

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
  auth: A;
  /** The capability that must be covered; from the path parameters as they were sent. */
  capability?: string | ((params: Readonly<Record<string, string>>) => string);
  /** What a member must be where the request is for an organization; as `roleOf` derives it unless given. */
  role?: Needed;
  /** The capability that must be covered, too, because what is set up here runs later. */
  runCapability?: (params: Readonly<Record<string, string>>) => string;
  limit: Limit;
  /** Where an address's limit is another one than that of all routes without a caller. */
  addressLimit?: (gateway: Gateway) => number;
  params?: ParamsSpec<P>;
  query?: z.ZodType<Q>;
  /** A list: query parameters that it does not know are refused. */
  list?: boolean;
  approval?: boolean;
  /** Shape of the JSON body. Without it the body is not read. */
  body?: z.ZodType<B>;
  /** Members of the body that are stored as sent; lone surrogates in them are allowed. */
  keptMembers?: readonly string[];
  /** The body may be a workflow as a GET gives it. */
  wholeWorkflow?: boolean;
  /** Values that its JSON body may have, where those are more than usual. */
  bodyValues?: number;
  /** The handler consumes raw bytes of the body. */
  binaryBody?: boolean;
  /** The fields of the form that such a body is, for the document. */
  form?: z.ZodType;
  /** The context's body is JSON as it was sent, for its signature, of at most so many bytes. */
  signedBody?: { bytes: number };
  /** The error of a body that fails validation; INVALID_REQUEST unless given. */
  invalidBody?(issues: Issue[]): DomainError;
  /** Starts a run: every reply carries X-Execution-Id. */
  startsRun?: boolean;
  /**
   * Honours Idempotency-Key: `replay` by storing the answer, `once` because the service behind does the work only once,
   * `rebuild` by answering again from what was made under the id that the key stands for.
   */
  idempotent?: "replay" | "once" | "rebuild";
  /** Happens only at the revision that If-Match names. */
  ifMatch?: boolean;
  /** Headers of successful replies beyond those of every route. */
  replyHeaders?: readonly ReplyHeader[];
  /** Shape of each successful reply; null where there is no body. */
  responses: Readonly<Record<number, z.ZodType | null>>;
  /** Speaks OpenAI's API: keys come as `Authorization: Bearer`, too, and errors are in its form. */
  openAi?: boolean;
  /** Speaks the Model Context Protocol: keys come as `Authorization: Bearer`, too, errors are JSON-RPC's, and pages of other origins are refused. */
  mcp?: boolean;
  /** Pages of an app's origins may call it: with a visitor's token, or as it is open to anyone. */
  app?: "visitors" | "open";
  /** Content type of a successful reply that is not JSON. */
  contentType?: string;
  /** Other content types that a successful reply may have, as the request asks. */
  otherContent?: Readonly<Record<string, z.ZodType>>;
  /** Codes beyond those that its checks imply. */
  errors?: readonly Reason[];
  example?: unknown;
  handler(context: CallContext<A, P, Q, B>): Promise<Reply | typeof STREAMED>;
}

/** A route of any types, for the table. */
export type Route = RouteDefinition;

/** A list's parameters: closed, unless their schema says itself what else there may be. */
const listQuery = (schema: z.ZodType = z.object({})): z.ZodType =>
  schema instanceof z.ZodObject && schema.def.catchall === undefined ? schema.strict() : schema;

/** Declares an endpoint; the handler's context is typed by the schemas. */
export const defineRoute = <A extends Auth, P = unknown, Q = unknown, B = unknown>(definition: RouteDefinition<A, P, Q, B>): Route => {
  const route = definition as unknown as Route;
  return route.list ? { ...route, query: listQuery(route.query) } : route;
};
