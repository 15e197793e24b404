import { createClient, NodeloomError } from "@nodeloom/client";
import { fetchInTime } from "./fetch-in-time";
import { CLIENT } from "../messages/api";

/** Fewer and shorter retries than in scripts: a person sees the failure and can try again. */
const MAX_RETRIES = 2;
const MAX_PAUSE_MS = 4_000;
const NO_WAIT_MS = 0;

/** The public API, with the session cookie only. */
export const api = createClient({
  baseUrl: location.origin,
  maxRetries: MAX_RETRIES,
  maxPauseMs: MAX_PAUSE_MS,
  placeTimeoutMs: NO_WAIT_MS,
  fetch: fetchInTime,
});
export const { request } = api;

const UNAUTHENTICATED = 401;
const NOT_FOUND = 404;

export const isSignedOut = (error: unknown): boolean => error instanceof NodeloomError && error.status === UNAUTHENTICATED;
export const isNotFound = (error: unknown): boolean => error instanceof NodeloomError && error.status === NOT_FOUND;
const PASSING: ReadonlySet<number> = new Set([0, 408, 429, 500, 502, 503, 504]);
/** True if the same request can succeed a moment later. */
export const isPassing = (error: unknown): boolean => error instanceof NodeloomError && PASSING.has(error.status);
export const isOffline = (error: unknown): boolean => error instanceof NodeloomError && error.status === 0;

export interface ApiIssue {
  path?: string;
  nodeId?: string | null;
  message: string;
}

export const issuesOf = (error: unknown): ApiIssue[] =>
  error instanceof NodeloomError && Array.isArray(error.details.issues) ? (error.details.issues as ApiIssue[]) : [];

export const messageOf = (error: unknown): string => {
  if (isOffline(error)) return CLIENT.offline;
  return error instanceof Error ? error.message : String(error);
};
export const codeOf = (error: unknown): string | undefined => (error instanceof NodeloomError ? error.code : undefined);
