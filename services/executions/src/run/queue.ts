/** Places and queue of a user's runs: pure changes of one document. */

export interface Waiting {
  id: string;
  /** Size of its input. */
  bytes: number;
}

export interface RunQueue {
  running: readonly string[];
  /** Waiting runs in order of arrival. */
  waiting: readonly Waiting[];
  /** Places, from the latest request or change of tier; 0: unlimited. */
  limit: number;
  /** Runs with an approval, from start to end; while they wait for decisions they take no place. */
  approvals?: readonly string[];
}

export const EMPTY_QUEUE: RunQueue = { running: [], waiting: [], limit: 0 };

/** Runs that can wait per place. */
export const QUEUE_LENGTH_FACTOR = 10;
/** Maximum bytes of inputs of a user's waiting runs. */
export const QUEUE_BYTES = 64 * 1024 * 1024;

/** 0: it has a place; 1 and more: its position in the queue; null: the queue is full. */
export type Place = number | null;

export interface Newcomer extends Waiting {
  limit: number;
  /** False: it wants a place now, or none. */
  mayWait: boolean;
  /** It waited for a decision, and is never rejected. */
  isReturning?: true;
}

const isFree = ({ running, limit }: RunQueue): boolean => limit === 0 || running.length < limit;

/** Position of a run; undefined if it isn't in the queue. */
export const placeOf = ({ running, waiting }: RunQueue, id: string): number | undefined => {
  if (running.includes(id)) return 0;
  const index = waiting.findIndex((one) => one.id === id);
  return index < 0 ? undefined : index + 1;
};

/** A run arrives. Newcomers never overtake; repeating changes nothing. */
export const enter = (earlier: RunQueue, { id, bytes, limit, mayWait, isReturning }: Newcomer): { queue: RunQueue; place: Place } => {
  const queue = earlier.limit === limit ? earlier : { ...earlier, limit };
  const known = placeOf(queue, id);
  if (known !== undefined) return { queue, place: known };
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
  const left = running.length === queue.running.length && waiting.length === queue.waiting.length ? queue : { ...queue, running, waiting };
  if (!queue.approvals?.some((id) => ids.includes(id))) return left;
  return { ...left, approvals: queue.approvals.filter((id) => !ids.includes(id)) };
};

/** Gives free places to the oldest waiting runs. @returns the runs that moved up */
export const moveUp = (queue: RunQueue): { queue: RunQueue; moved: string[] } => {
  const free = queue.limit === 0 ? queue.waiting.length : Math.max(0, queue.limit - queue.running.length);
  const moved = queue.waiting.slice(0, free).map(({ id }) => id);
  if (moved.length === 0) return { queue, moved };
  return { queue: { ...queue, running: [...queue.running, ...moved], waiting: queue.waiting.slice(moved.length) }, moved };
};
