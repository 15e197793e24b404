import { NodeloomError, type Execution } from "@nodeloom/client";
import { create } from "zustand";
import { api, isNotFound, messageOf } from "../api/client";
import { pictureDataUrl } from "../media/url";
import { rememberOutputs } from "./latest-outputs";
import type { NodeCall } from "./outputs";
import { LIVE } from "../messages/live";

export interface RunEvent {
  id: number;
  type: string;
  at: string;
  data: Record<string, unknown>;
}
export type NodeProgress = Execution["nodes"][number];

/** The newest progress of a call. */
export interface Preview {
  /** Completed percent of its current step. */
  percent?: number;
  /** A `data:` URL of the unfinished picture. */
  image?: string;
}

/** A run on this page: the loaded state plus later events. */
export interface LiveRun {
  executionId: string;
  execution: Execution | undefined;
  nodes: ReadonlyMap<string, NodeProgress>;
  /** Texts in progress, by node and item. */
  texts: ReadonlyMap<string, string>;
  /** Progress of calls whose provider streams it, by node and item. */
  previews: ReadonlyMap<string, Preview>;
  /** Number of the last event. */
  lastEvent: number;
  connected: boolean;
  /** Reason why the run can't be followed. `passes` is true if a retry can help. */
  problem?: { message: string; passes: boolean } | undefined;
}

/** Run shown on each workflow's canvas, by slug. */
export const useLive = create<{ runs: Readonly<Record<string, LiveRun>> }>(() => ({ runs: {} }));

const FINAL: ReadonlySet<string> = new Set(["completed", "failed", "cancelled"]);
export const isOver = (run: LiveRun | undefined): boolean => run?.execution !== undefined && FINAL.has(run.execution.status);

const fresh = (id: string): NodeProgress => ({
  id,
  type: "",
  status: "pending",
  startedAt: null,
  durationMs: null,
  creditsCost: 0,
  error: null,
});

const ENDED: ReadonlyMap<string, NodeProgress["status"]> = new Map([
  ["node.completed", "completed"],
  ["node.failed", "failed"],
  ["node.cancelled", "cancelled"],
  ["node.skipped", "skipped"],
]);

const numberIn = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);

/** Calls of a node after one of them was sent or ended with files. */
const withCall = (node: NodeProgress, { type, data }: RunEvent): NodeProgress["calls"] => {
  const item = numberIn(data.item) ?? 0;
  const before = node.calls ?? [];
  const earlier = before.find((call) => call.item === item);
  const files = Array.isArray(data.files) ? (data.files as unknown[]) : undefined;
  if (files === undefined && (type !== "submitted" || earlier !== undefined)) return node.calls;
  const call: NodeCall = {
    item,
    status: files === undefined ? "processing" : "completed",
    ...(files === undefined ? {} : { outputs: { files } }),
    error: null,
    creditsCost: earlier?.creditsCost ?? 0,
    requestId: earlier?.requestId ?? null,
    ...(typeof data.reusedFrom === "string" ? { reusedFrom: data.reusedFrom } : {}),
  };
  return [...before.filter((one) => one.item !== item), call].sort((a, b) => a.item - b.item);
};

const progressed = (before: NodeProgress, event: RunEvent): NodeProgress => {
  const { type, at, data } = event;
  const calls = withCall(before, event);
  const node = calls === undefined ? before : { ...before, calls };
  const endStatus = ENDED.get(type);
  const items = numberIn(data.items) ?? numberIn(data.calls) ?? node.items;
  if (endStatus !== undefined) {
    const error = (data.error as NodeProgress["error"] | undefined) ?? node.error;
    const donePart = endStatus === "completed" && items !== undefined ? { itemsDone: items } : {};
    return { ...node, status: endStatus, durationMs: numberIn(data.durationMs) ?? node.durationMs, error, ...donePart };
  }
  if (type === "node.progress") return { ...node, status: "processing", itemsDone: numberIn(data.itemsDone) ?? (node.itemsDone ?? 0) + 1 };
  const startedNode: NodeProgress = { ...node, status: "processing", startedAt: node.startedAt ?? at };
  return items === undefined ? startedNode : { ...startedNode, items };
};

/** State of a run after an event. Events already applied change nothing. */
export const applyEvent = (run: LiveRun, event: RunEvent): LiveRun => {
  const { id, type, data } = event;
  const nodeId = typeof data.nodeId === "string" ? data.nodeId : undefined;
  if (type === "node.delta") {
    if (nodeId === undefined) return run;
    const key = `${nodeId}:${String(data.item ?? 0)}`;
    const before = data.reset === true ? "" : (run.texts.get(key) ?? "");
    return { ...run, texts: new Map(run.texts).set(key, before + String(data.text ?? "")) };
  }
  if (type === "node.preview") {
    const key = `${nodeId}:${String(data.item ?? 0)}`;
    const [percent, image] = [numberIn(data.percent), pictureDataUrl(data.image)];
    const preview = { ...run.previews.get(key), ...(percent !== undefined && { percent }), ...(image !== undefined && { image }) };
    return { ...run, previews: new Map(run.previews).set(key, preview) };
  }
  if (id <= run.lastEvent) return run;
  if (nodeId === undefined) {
    const cancels = type === "cancel_requested" && run.execution !== undefined;
    return { ...run, lastEvent: id, execution: cancels ? { ...run.execution!, status: "cancel_requested" } : run.execution };
  }
  return { ...run, lastEvent: id, nodes: new Map(run.nodes).set(nodeId, progressed(run.nodes.get(nodeId) ?? fresh(nodeId), event)) };
};

const put = (slug: string, change: (run: LiveRun) => LiveRun): void =>
  useLive.setState(({ runs }) => {
    const run = runs[slug];
    const next = run && change(run);
    return next === undefined || next === run ? { runs } : { runs: { ...runs, [slug]: next } };
  });

const STAGES: Readonly<Record<NodeProgress["status"], number>> = {
  pending: 0,
  processing: 1,
  completed: 2,
  failed: 2,
  cancelled: 2,
  skipped: 2,
};

/** Loaded state of a node, with later events. */
const newest = (readProgress: NodeProgress, live: NodeProgress | undefined): NodeProgress => {
  if (live === undefined || STAGES[readProgress.status] > STAGES[live.status]) return readProgress;
  const callsByItem = new Map((live.calls ?? []).map((call) => [call.item, call]));
  for (const call of readProgress.calls ?? [])
    if (call.outputs !== undefined || callsByItem.get(call.item)?.outputs === undefined) callsByItem.set(call.item, call);
  const calls =
    callsByItem.size === 0 || readProgress.outputs !== undefined
      ? {}
      : { calls: [...callsByItem.values()].sort((a, b) => a.item - b.item) };
  if (STAGES[readProgress.status] === STAGES[live.status])
    return { ...readProgress, ...calls, itemsDone: Math.max(readProgress.itemsDone ?? 0, live.itemsDone ?? 0) };
  return { ...live, ...calls, creditsCost: readProgress.creditsCost };
};

const withExecution = (run: LiveRun, execution: Execution): LiveRun => ({
  ...run,
  execution,
  nodes: new Map(execution.nodes.map((node) => [node.id, FINAL.has(execution.status) ? node : newest(node, run.nodes.get(node.id))])),
});

/** Follows a run's events and final state. */
const follow = async (slug: string, executionId: string, signal: AbortSignal): Promise<void> => {
  const read = async (): Promise<void> => {
    const execution = await api.executions.get(executionId, { signal });
    put(slug, (run) => (run.executionId === executionId ? withExecution(run, execution) : run));
    if (FINAL.has(execution.status)) rememberOutputs(slug, execution);
  };
  await read();
  if (isOver(useLive.getState().runs[slug])) return;
  put(slug, (run) => ({ ...run, connected: true, problem: undefined }));
  // Events report files. Texts and prices of completed nodes are loaded at intervals.
  let [reading, isWanted] = [false, false];
  const readSoon = async (): Promise<void> => {
    isWanted = true;
    if (reading) return;
    reading = true;
    while (isWanted && !signal.aborted) {
      isWanted = false;
      await new Promise((resolve) => setTimeout(resolve, READ_PAUSE_MS));
      // Failed loads are repeated when the run ends.
      if (!signal.aborted && !isOver(useLive.getState().runs[slug])) await read().catch(() => undefined);
    }
    reading = false;
  };
  for await (const event of api.events(executionId, { after: useLive.getState().runs[slug]?.lastEvent ?? 0, signal })) {
    put(slug, (run) => (run.executionId === executionId ? applyEvent(run, event) : run));
    if (event.type === "node.completed" || event.type === "node.progress") void readSoon();
  }
  await read();
};

const READ_PAUSE_MS = 700;
const RETRY_MS = 3_000;
const FORBIDDEN = 403;
const passes = (error: unknown): boolean => !isNotFound(error) && !(error instanceof NodeloomError && error.status === FORBIDDEN);
let stopFollowing = (): void => undefined;

const begin = (slug: string, executionId: string): void => {
  if (useLive.getState().runs[slug]?.executionId === executionId) return;
  const run: LiveRun = {
    executionId,
    execution: undefined,
    nodes: new Map(),
    texts: new Map(),
    previews: new Map(),
    lastEvent: 0,
    connected: false,
  };
  useLive.setState(({ runs }) => ({ runs: { ...runs, [slug]: run } }));
};

export type Stop = () => void;

/** Shows a run on a workflow's canvas and updates it, with one stream at a time and none while the page is hidden. */
export const watchRun = (slug: string, executionId: string, onOver?: () => void): Stop => {
  stopFollowing();
  begin(slug, executionId);
  let abort = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let closed = false;
  const start = async (): Promise<void> => {
    abort.abort();
    const own = new AbortController();
    abort = own;
    try {
      await follow(slug, executionId, own.signal);
      if (isOver(useLive.getState().runs[slug])) return onOver?.();
    } catch (error) {
      if (own.signal.aborted) return;
      const problem = { message: isNotFound(error) ? LIVE.runExpired : messageOf(error), passes: passes(error) };
      put(slug, (run) => ({ ...run, connected: false, problem }));
      if (!problem.passes) return;
    }
    if (!closed) timer = setTimeout(() => void start(), RETRY_MS);
  };
  const onVisibility = (): void => {
    clearTimeout(timer);
    if (document.hidden) abort.abort();
    else if (!isOver(useLive.getState().runs[slug])) void start();
  };
  document.addEventListener("visibilitychange", onVisibility);
  if (!document.hidden) void start();
  stopFollowing = () => {
    closed = true;
    clearTimeout(timer);
    abort.abort();
    document.removeEventListener("visibilitychange", onVisibility);
  };
  return stopFollowing;
};

/** Removes a run from the canvas. */
export const forgetRun = (slug: string): void => {
  stopFollowing();
  useLive.setState(({ runs }) => ({ runs: Object.fromEntries(Object.entries(runs).filter(([name]) => name !== slug)) }));
};
