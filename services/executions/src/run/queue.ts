/** Who of a user's runs has a place, and who waits for one: pure changes of one document. */

export interface Waiting {
  id: string;
  /** Of what it will be started with. */
  bytes: number;
}

export interface RunQueue {
  running: readonly string[];
  /** Runs that wait, in order of arrival. */
  waiting: readonly Waiting[];
  /** Places, by the latest request or change of tier; 0: any number. */
  limit: number;
  /** Runs with an approval, from their start to their end: those that wait for decisions have no place. */
  approvals?: readonly string[];
}

export const EMPTY_QUEUE: RunQueue = { running: [], waiting: [], limit: 0 };

/** Runs that may wait, for each that may run. */
export const QUEUE_LENGTH_FACTOR = 10;
/** What all of a user's waiting runs may be started with, in bytes. */
export const QUEUE_BYTES = 64 * 1024 * 1024;

/** 0: it has a place; 1 and more: where it waits; null: there is no room. */
export type Place = number | null;

export interface Newcomer extends Waiting {
  limit: number;
  /** False: it wants a place now, or none. */
  mayWait: boolean;
  /** It has waited for a decision, and is never turned away. */
  isReturning?: true;
}

const isFree = ({ running, limit }: RunQueue): boolean => limit === 0 || running.length < limit;

/** Where a run is in the queue; undefined when it isn't. */
export const placeOf = ({ running, waiting }: RunQueue, id: string): number | undefined => {
  if (running.includes(id)) return 0;
  const index = waiting.findIndex((one) => one.id === id);
  return index < 0 ? undefined : index + 1;
};

/** A run arrives. Newcomers never overtake; arriving again changes nothing. */
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

/** Runs may take another number of places from now on; a queue that is empty, and is stored nowhere, stays as it is. */
export const resize = (queue: RunQueue, limit: number): RunQueue =>
  queue.limit === limit || (queue.running.length === 0 && queue.waiting.length === 0) ? queue : { ...queue, limit };

/** A run with an approval begins: as many of them as may wait for decisions are under way. @returns undefined when there is no room */
export const admitApproval = (queue: RunQueue, id: string, most: number): RunQueue | undefined => {
  const { approvals = [] } = queue;
  if (approvals.includes(id)) return queue;
  return approvals.length < most ? { ...queue, approvals: [...approvals, id] } : undefined;
};

/** A run has nothing under way but decisions: its place is free until it returns. */
export const stepAside = (queue: RunQueue, id: string): RunQueue =>
  queue.running.includes(id) ? { ...queue, running: queue.running.filter((one) => one !== id) } : queue;

/** Runs leave: those that ended, and those that wait no more. */
export const leave = (queue: RunQueue, ids: readonly string[]): RunQueue => {
  const running = queue.running.filter((id) => !ids.includes(id));
  const waiting = queue.waiting.filter(({ id }) => !ids.includes(id));
  const left = running.length === queue.running.length && waiting.length === queue.waiting.length ? queue : { ...queue, running, waiting };
  if (!queue.approvals?.some((id) => ids.includes(id))) return left;
  return { ...left, approvals: queue.approvals.filter((id) => !ids.includes(id)) };
};

/** The oldest take the places that are free. @returns those that have one now and did not before */
export const moveUp = (queue: RunQueue): { queue: RunQueue; moved: string[] } => {
  const free = queue.limit === 0 ? queue.waiting.length : Math.max(0, queue.limit - queue.running.length);
  const moved = queue.waiting.slice(0, free).map(({ id }) => id);
  if (moved.length === 0) return { queue, moved };
  return { queue: { ...queue, running: [...queue.running, ...moved], waiting: queue.waiting.slice(moved.length) }, moved };
};
