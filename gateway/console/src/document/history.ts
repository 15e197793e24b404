/** Undo as labelled snapshots of a value that is never changed in place. */
export interface Step<T> {
  /** What was done: "Move 2 nodes". */
  label: string;
  /** The value before it. */
  before: T;
  /** Steps with the same key that follow soon are one. */
  key: string | undefined;
  at: number;
}

export interface History<T> {
  readonly past: readonly Step<T>[];
  readonly future: readonly Step<T>[];
}

export const MERGE_WITHIN_MS = 500;
export const MOST_STEPS = 200;

export const emptyHistory = <T>(): History<T> => ({ past: [], future: [] });

/** Notes a change that is about to be made. */
export const record = <T>(history: History<T>, step: Step<T>): History<T> => {
  const last = history.past.at(-1);
  const merges = last !== undefined && step.key !== undefined && last.key === step.key && step.at - last.at <= MERGE_WITHIN_MS;
  const past = merges ? [...history.past.slice(0, -1), { ...last, at: step.at }] : [...history.past, step];
  return { past: past.slice(-MOST_STEPS), future: [] };
};

/** The step back: the value before the last change, and the history then. */
export const undo = <T>(history: History<T>, now: T): { value: T; label: string; history: History<T> } | undefined => {
  const last = history.past.at(-1);
  if (!last) return undefined;
  const future = [...history.future, { ...last, before: now }];
  return { value: last.before, label: last.label, history: { past: history.past.slice(0, -1), future } };
};

export const redo = <T>(history: History<T>, now: T): { value: T; label: string; history: History<T> } | undefined => {
  const last = history.future.at(-1);
  if (!last) return undefined;
  const past = [...history.past, { ...last, before: now, key: undefined }];
  return { value: last.before, label: last.label, history: { past, future: history.future.slice(0, -1) } };
};

/** The history after every snapshot took over what came from elsewhere: undoing never takes that back. */
export const rebase = <T>(history: History<T>, change: (value: T) => T): History<T> => {
  const apply = (steps: readonly Step<T>[]): Step<T>[] => steps.map((step) => ({ ...step, before: change(step.before) }));
  return { past: apply(history.past), future: apply(history.future) };
};
