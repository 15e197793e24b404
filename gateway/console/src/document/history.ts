/** Undo as labelled snapshots of an immutable value. */
export interface Step<T> {
  /** Label such as "Move 2 nodes". */
  label: string;
  before: T;
  /** Steps with the same key in quick succession are combined. */
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

/** Records a step before its change. */
export const record = <T>(history: History<T>, step: Step<T>): History<T> => {
  const last = history.past.at(-1);
  const merges = last !== undefined && step.key !== undefined && last.key === step.key && step.at - last.at <= MERGE_WITHIN_MS;
  const past = merges ? [...history.past.slice(0, -1), { ...last, at: step.at }] : [...history.past, step];
  return { past: past.slice(-MOST_STEPS), future: [] };
};

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

/** Applies someone else's change to every snapshot, so that undo never reverts it. */
export const rebase = <T>(history: History<T>, change: (value: T) => T): History<T> => {
  const apply = (steps: readonly Step<T>[]): Step<T>[] => steps.map((step) => ({ ...step, before: change(step.before) }));
  return { past: apply(history.past), future: apply(history.future) };
};
