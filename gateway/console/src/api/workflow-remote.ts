import { NodeloomError, NETWORK_ERROR, type Workflow } from "@nodeloom/client";
import { objectText, readDocGraph, type DocGraph } from "../document/graph";
import { members } from "@nodeloom/kernel/json-text";
import { isPassing } from "./client";
import { fetchInTime } from "./fetch-in-time";
import type { LoadedDocument, PublishedState, Remote } from "../document/remote";
import { WriteError, type WriteFailure } from "../document/write-queue";
import { WORKFLOW_REMOTE } from "../messages/api";

/** Workflows as text, because JSON.parse would change a graph. Other members are read with the client. */
const MS = 1_000;
const STALE = 412;
const SIGNED_OUT = 401;

const addressOf = (slug: string): string => `/api/workflows/${encodeURIComponent(slug)}`;

const answer = async (path: string, init: RequestInit): Promise<{ text: string; etag: string }> => {
  let response: Response;
  let text: string;
  try {
    response = await fetchInTime(path, init);
    text = await response.text();
  } catch (cause) {
    throw new NodeloomError({ status: 0, code: NETWORK_ERROR, message: WORKFLOW_REMOTE.offlineReason, cause });
  }
  if (response.ok) return { text, etag: response.headers.get("etag") ?? "" };
  const isJson = (response.headers.get("content-type") ?? "").includes("json");
  const { error, code, ...details } = (isJson ? JSON.parse(text) : {}) as Record<string, unknown>;
  const retryAfter = Number(response.headers.get("retry-after") ?? Number.NaN);
  throw new NodeloomError({
    status: response.status,
    code: typeof code === "string" ? code : undefined,
    message: typeof error === "string" ? error : WORKFLOW_REMOTE.theServiceAnswered(response.status),
    details: { ...details, ...(Number.isFinite(retryAfter) ? { retryAfter } : {}) },
    requestId: response.headers.get("x-request-id") ?? undefined,
  });
};

export interface OpenedWorkflow extends LoadedDocument {
  /** Members besides the graph. */
  info: Omit<Workflow, "nodes" | "edges">;
  viewport: { x: number; y: number; zoom: number };
}

const graphOf = (texts: ReadonlyMap<string, string>): DocGraph => readDocGraph(texts.get("nodes") ?? "[]", texts.get("edges") ?? "[]");

const numberOf = (text = "null"): number | null => JSON.parse(text) as number | null;

const publishedOf = (texts: ReadonlyMap<string, string>): PublishedState => ({
  version: numberOf(texts.get("publishedVersion")),
  production: numberOf(texts.get("productionVersion") ?? texts.get("publishedVersion")),
  changed: texts.get("changedSincePublished") === "true",
  pending: texts.get("pendingChange") === "true",
});

/** Reads a workflow with its graph as text. @throws NodeloomError */
export const loadWorkflow = async (slug: string): Promise<OpenedWorkflow> => {
  const { text, etag } = await answer(addressOf(slug), { headers: { accept: "application/json" } });
  const texts = members(text);
  const { nodes: _nodes, edges: _edges, ...info } = JSON.parse(text) as Workflow;
  const { name, description, tags, isTemplate, hidden, archived, publicPlayground, mcp = false, retentionDays = null, folderId } = info;
  const { x, y, zoom } = info.viewport as Record<string, unknown>;
  const number = (value: unknown, otherwise: number): number => (typeof value === "number" && Number.isFinite(value) ? value : otherwise);
  return {
    etag,
    published: publishedOf(texts),
    graph: graphOf(texts),
    meta: { name, description, tags, isTemplate, hidden, archived, publicPlayground, mcp, retentionDays, folderId },
    info,
    viewport: { x: number(x, 0), y: number(y, 0), zoom: number(zoom, 1) },
  };
};

/** Graph of a published version. @throws NodeloomError */
export const loadVersion = async (slug: string, version: number, signal: AbortSignal): Promise<DocGraph> => {
  const { text } = await answer(`${addressOf(slug)}/versions/${version}`, { headers: { accept: "application/json" }, signal });
  return graphOf(members(text));
};

/** Graph of a past run. @throws NodeloomError if it was deleted or belongs to another user */
export const loadRanGraph = async (executionId: string, signal: AbortSignal | null = null): Promise<DocGraph> => {
  const { text } = await answer(`/api/executions/${executionId}/graph`, { headers: { accept: "application/json" }, signal });
  return graphOf(members(text));
};

/** A workflow as exported and imported text. */
export const workflowText = async (slug: string): Promise<string> =>
  (await answer(addressOf(slug), { headers: { accept: "application/json" } })).text;

/**
 * Creates a workflow from texts, so that its graph stays unchanged.
 * @returns the slug
 * @throws NodeloomError
 */
export const createWorkflow = async (texts: ReadonlyMap<string, string>): Promise<string> => {
  const headers = { "content-type": "application/json", accept: "application/json", "idempotency-key": crypto.randomUUID() };
  const { text } = await answer("/api/workflows", { method: "POST", headers, body: objectText(texts) });
  return (JSON.parse(text) as Workflow).slug;
};

const failureOf = (error: NodeloomError): WriteFailure => {
  const { status, message, code, details } = error;
  if (isPassing(error)) {
    const retryAfterMs = typeof details.retryAfter === "number" ? details.retryAfter * MS : undefined;
    const words = status === 0 ? WORKFLOW_REMOTE.offline : message;
    return { kind: "unreachable", message: words, retryAfterMs };
  }
  if (status === SIGNED_OUT) return { kind: "signed-out", message: WORKFLOW_REMOTE.signedOut };
  return { kind: "refused", message, code };
};

const asWrite = (error: unknown): WriteError =>
  new WriteError(error instanceof NodeloomError ? failureOf(error) : { kind: "unreachable", message: String(error) });

export const workflowRemote = (slug: string): Remote => ({
  load: () =>
    loadWorkflow(slug).catch((error: unknown) => {
      throw asWrite(error);
    }),
  save: async (body, etag) => {
    try {
      const headers = { "content-type": "application/json", accept: "application/json", "if-match": etag };
      const { etag: saved, text } = await answer(addressOf(slug), { method: "PUT", headers, body });
      return { etag: saved, published: publishedOf(members(text)) };
    } catch (error) {
      if (error instanceof NodeloomError && error.status === STALE) return "stale";
      throw asWrite(error);
    }
  },
});
