import { CONFLICT_ATTEMPTS } from "@nodeloom/kernel";
import { retryOnConflict } from "@nodeloom/platform";
import { LRUCache } from "lru-cache";
import { HIDDEN, isFinal, RUNNING } from "../../run/states";
import type { ExecutionRecord, ExecutionView, FinalState, StoredEvents } from "../../run/record";
import type { PayloadStore } from "../payloads";
import type { ExecutionModel } from "../schema";
import { nodesAfter, SUBMITTED, type ExecutionEvent } from "../../run/events";

/**
 * Event log of a run. The newest events are in the row, so that a transition writes its events in the same update. Events that don't fit
 * into the row move to payloads. These immutable parts of the log come before the events in the row (`logParts`) or after them (`closing`).
 * The number of an event is its position in the log.
 *
 * After a crash, each event is in the row or in a part that the row names, because both change in one update. A payload that no row names
 * expires. An event is recorded once, because every append requires that its key is missing from the row and that no unread part exists.
 * After the run's ending is decided, nothing is appended. The end of the run writes the log as it is at that time.
 */

/** Maximum events per read. */
export const EVENT_PAGE = 500;
/** Maximum characters of JSON events in a row, and of the events that are added when a run ends. */
const ROW_CHARS = 12_000;
const CLOSING_CHARS = 4_000;
/** Maximum characters of JSON nodes in a row. */
const NODES_CHARS = 12_000;
const CACHED_PARTS = 300;

export const WITHOUT_EVENTS = { events: 0 } as const;

type Log = Pick<ExecutionRecord, "events" | "logParts" | "closing">;
const LOG = { events: 1, logParts: 1, closing: 1 } as const;

export interface EventPage {
  /** Members that show if the run is final and delivered, and how much of it is visible. */
  row: Pick<ExecutionView, "_id" | "status" | "outbox" | "finishedAt" | "graphHidden">;
  events: (ExecutionEvent & { sequence: number })[];
  more: boolean;
}

export type LogKeys = Pick<Log, "logParts"> & { events: readonly Pick<ExecutionEvent, "key">[] };

export interface KnownLog {
  recorded: ReadonlySet<string>;
  /** Public id of the run, which is the request id of its first submitted call. */
  requestId: string | null;
  parts: readonly StoredEvents[];
}

const sizeOf = (value: unknown): number => JSON.stringify(value).length;
/** Filter: none of these events is in the row, and no log part was added since the last read. */
export const lacks = (events: readonly ExecutionEvent[], { length }: readonly StoredEvents[] = []): Record<string, unknown> => ({
  [`logParts.${length}`]: { $exists: false },
  "events.key": { $nin: events.map(({ key }) => key) },
});

/** Returns the public id that a run gets from its first submitted call; undefined if none was submitted. */
export const requestIdIn = (events: readonly ExecutionEvent[]): string | undefined =>
  events.find(({ type }) => type === "submitted")?.data.requestId as string | undefined;

/**
 * Filter and update that append events to a row's log. The first submitted call sets the run's public id.
 * @param isNamed true if the run already has its public id
 */
export const pushed = (
  events: readonly ExecutionEvent[],
  isNamed: boolean,
): { isUnnamed: object; push: { $push: object; $set?: { requestId: string } } } => {
  const $push = { events: { $each: [...events] } };
  const requestId = isNamed ? undefined : requestIdIn(events);
  if (requestId === undefined) return { isUnnamed: {}, push: { $push } };
  return { isUnnamed: { requestId: null }, push: { $push, $set: { requestId } } };
};

export type EventLog = ReturnType<typeof createEventLog>;

export const createEventLog = (executions: ExecutionModel, payloads: Pick<PayloadStore, "putText" | "getText">) => {
  const { collection } = executions;
  const cache = new LRUCache<string, readonly ExecutionEvent[]>({ max: CACHED_PARTS });

  const putAway = async (events: readonly ExecutionEvent[], executionId: string): Promise<StoredEvents> => {
    const stored = await payloads.putText(JSON.stringify(events), executionId);
    if ("hash" in stored) cache.set(stored.hash, events);
    return { ...stored, count: events.length };
  };

  /** @returns an empty list if the payload is missing */
  const load = async ({ count: _, ...part }: StoredEvents): Promise<readonly ExecutionEvent[]> => {
    const cached = "hash" in part ? cache.get(part.hash) : undefined;
    if (cached) return cached;
    const json = await payloads.getText(part);
    const events = (JSON.parse(json ?? "[]") as ExecutionEvent[]).map((event) => ({ ...event, at: new Date(event.at) }));
    if ("hash" in part) cache.set(part.hash, events);
    return events;
  };

  const recordedKeys = async ({ events, logParts = [] }: LogKeys): Promise<Set<string>> => {
    const parts = await Promise.all(logParts.map(load));
    return new Set([...parts.flat(), ...events].map(({ key }) => key));
  };

  const readLog = (filter: object, projection: object): Promise<ExecutionRecord | null> =>
    collection.findOne<ExecutionRecord>(filter, { projection });

  /**
   * Moves the events of a row to a payload if they are long. If two processes try at the same time, one succeeds.
   * @returns the parts known to be in the row; the other process may have moved more
   */
  const spill = async ({ _id, events, logParts = [] }: ExecutionRecord): Promise<readonly StoredEvents[]> => {
    if (sizeOf(events) <= ROW_CHARS) return logParts;
    const part = await putAway(events, _id);
    // Only this update removes events from a row, and it removes all of them. If the first event is still in the row, no event was moved.
    const { matchedCount } = await collection.updateOne({ _id, "events.0.key": events[0]!.key } as never, {
      $push: { logParts: part as never },
      $pull: { events: { key: { $in: events.map(({ key }) => key) } } as never },
    });
    return matchedCount === 0 ? logParts : [...logParts, part];
  };

  /** Loads all values that are stored outside the row because of their length. */
  const whole = async (row: ExecutionView): Promise<ExecutionView> => {
    const { resultHash, nodesHash } = row;
    const hasNodes = nodesHash === undefined || (isFinal(row) && row.nodes.length > 0);
    const [result, nodes] = await Promise.all([
      resultHash === undefined || row.resultJson !== null ? row.resultJson : payloads.getText({ hash: resultHash }),
      hasNodes ? undefined : payloads.getText({ hash: nodesHash }),
    ]);
    return { ...row, resultJson: result, ...(nodes ? { nodes: JSON.parse(nodes) as ExecutionView["nodes"] } : {}) };
  };

  /** Yields the current state of rows. One query reads the logs of the runs under way; long texts are loaded row by row. */
  async function* standing(rows: readonly ExecutionView[]): AsyncIterable<ExecutionView> {
    const running = rows.filter(({ status }) => RUNNING.includes(status)).map(({ _id }) => _id);
    const filter = { _id: { $in: running } } as object;
    const records = running.length === 0 ? [] : await collection.find<ExecutionRecord>(filter, { projection: LOG }).toArray();
    const logs = new Map(records.map((log) => [log._id, log]));
    for (const row of rows) {
      const [stored, log] = [await whole(row), logs.get(row._id)];
      const parts = await Promise.all((log?.logParts ?? []).map(load));
      yield log ? { ...stored, nodes: nodesAfter(stored.nodes, [...parts.flat(), ...log.events]) } : stored;
    }
  }

  return {
    whole,

    /** Returns a row with its nodes in the state that the log records. */
    current: async (row: ExecutionView): Promise<ExecutionView> => {
      for await (const current of standing([row])) return current;
      return row;
    },
    standing,

    /** Moves long texts of a new row to payloads. */
    stowed: async (record: ExecutionRecord): Promise<ExecutionRecord> => {
      const { _id, events } = record;
      const log = sizeOf(events) <= ROW_CHARS ? {} : { events: [], logParts: [await putAway(events, _id)] };
      return { ...record, ...(await stow(record, _id)), ...log };
    },

    /** When a run ends, moves its long texts and its log to payloads. */
    stowedEnd: async (end: FinalState, added: readonly ExecutionEvent[], executionId: string) => {
      const state: FinalState = { ...end, ...(await stow(end, executionId)) };
      if (sizeOf(added) <= CLOSING_CHARS) return { state, events: added };
      return { state: { ...state, closing: await putAway(added, executionId) }, events: [] };
    },

    recordedKeys,

    /** Returns the providers' ids that the log has for a run's calls, by `<nodeId>:<item>` with the alternative. */
    requestIds: async (id: string): Promise<ReadonlyMap<string, string>> => {
      const log = await readLog({ _id: id }, LOG);
      const { logParts = [], events = [], closing } = log ?? {};
      const parts = await Promise.all([...logParts, ...(closing ? [closing] : [])].map(load));
      const submitted = [...parts.flat(), ...events].filter(({ type }) => type === "submitted");
      return new Map(submitted.map(({ key, data: { requestId } }) => [key.slice(SUBMITTED.length), requestId as string]));
    },

    logKeys: async (id: string): Promise<LogKeys> => (await readLog({ _id: id }, { "events.key": 1, logParts: 1 })) ?? { events: [] },

    /**
     * Appends events to the log of a run under way, each once by its key.
     * @param knownLog last known contents of the log; missing parts are read if needed
     * @returns null after the run's ending is decided
     */
    append: async (id: string, events: readonly ExecutionEvent[], knownLog?: KnownLog): Promise<KnownLog | null> => {
      let parts = knownLog?.parts ?? [];
      let requestId = knownLog?.requestId ?? null;
      let recorded: ReadonlySet<string> = await recordedKeys({ events: [], logParts: [...parts] });
      const appended = await retryOnConflict(CONFLICT_ATTEMPTS.log, async (): Promise<KnownLog | null | undefined> => {
        const newEvents = events.filter(({ key }) => !recorded.has(key));
        if (newEvents.length > 0) {
          const { isUnnamed, push } = pushed(newEvents, requestId !== null);
          const isOpen = { _id: id, status: { $in: [...RUNNING] }, ending: null, ...lacks(newEvents, parts), ...isUnnamed };
          const after = { returnDocument: "after", ignoreUndefined: true, projection: { ...LOG, requestId: 1 } } as const;
          const row = (await collection.findOneAndUpdate(isOpen as never, push, after)) as ExecutionRecord | null;
          if (row) {
            const keys = new Set([...recorded, ...row.events.map(({ key }) => key)]);
            return { parts: await spill(row), requestId: row.requestId, recorded: keys };
          }
        }
        const now = await readLog({ _id: id }, { status: 1, ending: 1, requestId: 1, "events.key": 1, logParts: 1 });
        if (!now || !RUNNING.includes(now.status) || now.ending) return null;
        ({ requestId, logParts: parts = [] } = now);
        recorded = await recordedKeys(now);
        return events.every(({ key }) => recorded.has(key)) ? { recorded, parts, requestId } : undefined;
      });
      if (appended === undefined) throw new Error(`the log of ${id} changes too often`);
      return appended;
    },

    /** Returns a page of the log after a sequence number. The first event has number 1. `more` is true if further events may exist. */
    events: async (id: string, userId: string, after: number): Promise<EventPage | null> => {
      const row = await readLog(
        { _id: id, userId, status: { $nin: [...HIDDEN] } },
        { ...LOG, status: 1, outbox: 1, finishedAt: 1, graphHidden: 1 },
      );
      if (!row) return null;
      const { events, logParts = [], closing } = row;
      const parts = [...logParts, { count: events.length, loaded: events }, ...(closing ? [closing] : [])];
      const total = parts.reduce((sum, { count }) => sum + count, 0);
      let first = 0;
      for (const part of parts) {
        const from = Math.max(after, first);
        first += part.count;
        if (from >= first) continue;
        const all = "loaded" in part ? part.loaded : await load(part);
        const page = all.slice(from - (first - part.count)).slice(0, EVENT_PAGE);
        if (page.length === 0) continue;
        return { row, events: page.map((event, at) => ({ ...event, sequence: from + at + 1 })), more: from + page.length < total };
      }
      return { row, events: [], more: false };
    },
  };

  async function stow({ resultJson, nodes }: Pick<FinalState, "resultJson" | "nodes">, executionId: string): Promise<Partial<FinalState>> {
    const [result, keptNodes] = await Promise.all([
      resultJson === null ? undefined : payloads.putText(resultJson, executionId),
      sizeOf(nodes) <= NODES_CHARS ? undefined : payloads.putText(JSON.stringify(nodes), executionId),
    ]);
    return {
      ...(result && "hash" in result ? { resultJson: null, resultHash: result.hash } : {}),
      ...(keptNodes && "hash" in keptNodes ? { nodes: [], nodesHash: keptNodes.hash } : {}),
    };
  }
};
