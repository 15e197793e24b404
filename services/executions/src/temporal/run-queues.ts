/**
 * What workers of a release understand of a run: its input, its plan and its steps. It is raised by the first change of them that
 * the release before could not carry, and is a part of the task queue's name: runs never reach workers that don't know them. The database's version goes up with it, since
 * schedules name the queue.
 */
export const RUN_FORMAT = 2;

const OWN_IDENTITY = `nodeloom-${RUN_FORMAT}@`;

/** The task queue of a format's runs. The first had no number. */
const queueOfFormat = (name: string, format: number): string => (format === 1 ? name : `${name}-${format}`);

/** Where runs are started now. @param name TEMPORAL_TASK_QUEUE */
export const runQueue = (name: string): string => queueOfFormat(name, RUN_FORMAT);

/** Where runs of earlier releases go on, the newest first. @param name TEMPORAL_TASK_QUEUE */
export const earlierQueues = (name: string): string[] =>
  Array.from({ length: RUN_FORMAT - 1 }, (_, index) => queueOfFormat(name, RUN_FORMAT - 1 - index));

/** How a worker names itself to Temporal, so that those of other formats are told from it. */
export const workerIdentity = (process: string): string => `${OWN_IDENTITY}${process}`;

/** Whether a worker that polls a queue is of another format than this code's. */
export const isOfOtherFormat = (identity: string): boolean => !identity.startsWith(OWN_IDENTITY);
