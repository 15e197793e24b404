/** Places and queue of a user's runs, as pure changes of one document. */

export interface Waiting {
  id: string;
  /** Size of the run's input. */
  bytes: number;
}

export interface RunQueue {
  running: readonly string[];
  /** Waiting runs in order of arrival. */
  waiting: readonly Waiting[];
  /** Number of places, from the latest request or change of the tier; 0 for unlimited. */
  limit: number;
  /** Runs with an approval, from start to end. They take no place while they wait for decisions. */
  approvals?: readonly string[];
}

export const EMPTY_QUEUE: RunQueue = { running: [], waiting: [], limit: 0 };

/** Maximum number of waiting runs per place. */
export const QUEUE_LENGTH_FACTOR = 10;
/** Maximum bytes of inputs of a user's waiting runs. */
export const QUEUE_BYTES = 64 * 1024 * 1024;

/** 0: the run has a place. 1 or more: its position in the queue. Null: the queue is full. */
export type Place = number | null;

export interface Newcomer extends Waiting {
  limit: number;
  /** False if the run needs a place now and can't be queued. */
  mayWait: boolean;
  /** Set if the run waited for a decision. It is never rejected. */
  isReturning?: true;
}

const isFree = ({ running, limit }: RunQueue): boolean => limit === 0 || running.length < limit;

/** Returns the position of a run; undefined if it isn't in the queue. */
export const placeOf = ({ running, waiting }: RunQueue, id: string): number | undefined => {
  if (running.includes(id)) return 0;
  const index = waiting.findIndex((one) => one.id === id);
  return index < 0 ? undefined : index + 1;
};

/** Adds a run. New runs never overtake waiting runs. A repeated call has no effect. */
export const enter = (earlier: RunQueue, { id, bytes, limit, mayWait, isReturning }: Newcomer): { queue: RunQueue; place: Place } => {
  const queue = earlier.limit === limit ? earlier : { ...earlier, limit };
  const position = placeOf(queue, id);
  if (position !== undefined) return { queue, place: position };
  if (queue.waiting.length === 0 && isFree(queue)) return { queue: { ...queue, running: [...queue.running, id] }, place: 0 };
  const waitingBytes = queue.waiting.reduce((sum, one) => sum + one.bytes, 0);
  const hasRoom = queue.waiting.length < limit * QUEUE_LENGTH_FACTOR && waitingBytes + bytes <= QUEUE_BYTES;
  if (!isReturning && (!mayWait || !hasRoom)) return { queue, place: null };
  return { queue: { ...queue, waiting: [...queue.waiting, { id, bytes }] }, place: queue.waiting.length + 1 };
};

/** Changes the number of places. An empty queue isn't stored, so it stays unchanged. */
export const resize = (queue: RunQueue, limit: number): RunQueue =>
  queue.limit === limit || (queue.running.length === 0 && queue.waiting.length === 0) ? queue : { ...queue, limit };

/** Admits a run with an approval, if fewer than `most` are under way. @returns undefined if there are too many */
export const admitApproval = (queue: RunQueue, id: string, most: number): RunQueue | undefined => {
  const { approvals = [] } = queue;
  if (approvals.includes(id)) return queue;
  return approvals.length < most ? { ...queue, approvals: [...approvals, id] } : undefined;
};

/** Frees the place of a run that only waits for decisions. */
export const stepAside = (queue: RunQueue, id: string): RunQueue =>
  queue.running.includes(id) ? { ...queue, running: queue.running.filter((one) => one !== id) } : queue;

/** Removes runs that ended or no longer wait. */
export const leave = (queue: RunQueue, ids: readonly string[]): RunQueue => {
  const running = queue.running.filter((id) => !ids.includes(id));
  const waiting = queue.waiting.filter(({ id }) => !ids.includes(id));
  const nextQueue =
    running.length === queue.running.length && waiting.length === queue.waiting.length ? queue : { ...queue, running, waiting };
  if (!queue.approvals?.some((id) => ids.includes(id))) return nextQueue;
  return { ...nextQueue, approvals: queue.approvals.filter((id) => !ids.includes(id)) };
};

/** Gives free places to the oldest waiting runs. @returns the runs that moved up */
export const moveUp = (queue: RunQueue): { queue: RunQueue; moved: string[] } => {
  const free = queue.limit === 0 ? queue.waiting.length : Math.max(0, queue.limit - queue.running.length);
  const moved = queue.waiting.slice(0, free).map(({ id }) => id);
  if (moved.length === 0) return { queue, moved };
  return { queue: { ...queue, running: [...queue.running, ...moved], waiting: queue.waiting.slice(moved.length) }, moved };
};
