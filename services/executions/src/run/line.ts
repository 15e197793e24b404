/** Who of a user's runs has a place, and who waits for one: pure changes of one document. */

export interface Waiting {
  id: string;
  /** Of what it will be started with. */
  bytes: number;
}

export interface Line {
  running: readonly string[];
  /** Runs that wait, in order of arrival. */
  waiting: readonly Waiting[];
  /** Places, by the latest request or change of tier; 0: any number. */
  limit: number;
  /** Runs with an approval, from their start to their end: those that wait for decisions have no place. */
  approvals?: readonly string[];
}

export const EMPTY_LINE: Line = { running: [], waiting: [], limit: 0 };

/** Runs that may wait, for each that may run. */
export const LINE_LENGTH_FACTOR = 10;
/** What all of a user's waiting runs may be started with, in bytes. */
export const LINE_BYTES = 64 * 1024 * 1024;

/** 0: it has a place; 1 and more: where it waits; null: there is no room. */
export type Place = number | null;

export interface Newcomer extends Waiting {
  limit: number;
  /** False: it wants a place now, or none. */
  mayWait: boolean;
  /** It has waited for a decision, and is never turned away. */
  isReturning?: true;
}

const isFree = ({ running, limit }: Line): boolean => limit === 0 || running.length < limit;

/** Where a run is in line; undefined when it isn't. */
export const placeOf = ({ running, waiting }: Line, id: string): number | undefined => {
  if (running.includes(id)) return 0;
  const index = waiting.findIndex((one) => one.id === id);
  return index < 0 ? undefined : index + 1;
};

/** A run arrives. Newcomers never overtake; arriving again changes nothing. */
export const enter = (earlier: Line, { id, bytes, limit, mayWait, isReturning }: Newcomer): { line: Line; place: Place } => {
  const line = earlier.limit === limit ? earlier : { ...earlier, limit };
  const known = placeOf(line, id);
  if (known !== undefined) return { line, place: known };
  if (line.waiting.length === 0 && isFree(line)) return { line: { ...line, running: [...line.running, id] }, place: 0 };
  const waitingBytes = line.waiting.reduce((sum, one) => sum + one.bytes, 0);
  const hasRoom = line.waiting.length < limit * LINE_LENGTH_FACTOR && waitingBytes + bytes <= LINE_BYTES;
  if (!isReturning && (!mayWait || !hasRoom)) return { line, place: null };
  return { line: { ...line, waiting: [...line.waiting, { id, bytes }] }, place: line.waiting.length + 1 };
};

/** Runs may take another number of places from now on; a line that is empty, and is stored nowhere, stays as it is. */
export const resize = (line: Line, limit: number): Line =>
  line.limit === limit || (line.running.length === 0 && line.waiting.length === 0) ? line : { ...line, limit };

/** A run with an approval begins: as many of them as may wait for decisions are under way. @returns undefined when there is no room */
export const admitApproval = (line: Line, id: string, most: number): Line | undefined => {
  const { approvals = [] } = line;
  if (approvals.includes(id)) return line;
  return approvals.length < most ? { ...line, approvals: [...approvals, id] } : undefined;
};

/** A run has nothing under way but decisions: its place is free until it returns. */
export const stepAside = (line: Line, id: string): Line =>
  line.running.includes(id) ? { ...line, running: line.running.filter((one) => one !== id) } : line;

/** Runs leave: those that ended, and those that wait no more. */
export const leave = (line: Line, ids: readonly string[]): Line => {
  const running = line.running.filter((id) => !ids.includes(id));
  const waiting = line.waiting.filter(({ id }) => !ids.includes(id));
  const left = running.length === line.running.length && waiting.length === line.waiting.length ? line : { ...line, running, waiting };
  if (!line.approvals?.some((id) => ids.includes(id))) return left;
  return { ...left, approvals: line.approvals.filter((id) => !ids.includes(id)) };
};

/** The oldest take the places that are free. @returns those that have one now and did not before */
export const moveUp = (line: Line): { line: Line; moved: string[] } => {
  const free = line.limit === 0 ? line.waiting.length : Math.max(0, line.limit - line.running.length);
  const moved = line.waiting.slice(0, free).map(({ id }) => id);
  if (moved.length === 0) return { line, moved };
  return { line: { ...line, running: [...line.running, ...moved], waiting: line.waiting.slice(moved.length) }, moved };
};
