import type { Client } from "@temporalio/client";
import { temporal } from "@temporalio/proto";
import { startSweeper, type Logger } from "@nodeloom/platform";
import { TIMING } from "../contract/timing";
import { isOfOtherFormat } from "./run-queues";

const { TASK_QUEUE_TYPE_WORKFLOW } = temporal.api.enums.v1.TaskQueueType;

/** What is to be told to stop, and has ended. */
export interface Carrier {
  stop(): Promise<void>;
}

export interface EarlierQueuesOptions {
  client: Client;
  queues: readonly string[];
  /** Starts a worker on a queue. */
  work(taskQueue: string): Promise<Carrier>;
  logger: Logger;
}

/**
 * Carries what earlier releases have started and not ended. A queue of theirs is worked on while it has open workflows and no
 * worker of theirs polls it: a run is carried by one release at a time, and a queue that is empty costs one question a look.
 */
export const createEarlierQueues = ({ client, queues, work, logger }: EarlierQueuesOptions) => {
  const { namespace } = client.options;
  const carriers = new Map<string, Carrier>();

  /** Whether a worker of another format has polled lately. */
  const isPolledByOthers = async (taskQueue: string): Promise<boolean> => {
    const request = { namespace, taskQueue: { name: taskQueue }, taskQueueType: TASK_QUEUE_TYPE_WORKFLOW };
    const { pollers } = await client.workflowService.describeTaskQueue(request);
    const since = Date.now() - TIMING.pollerSeen;
    return (pollers ?? []).some(({ identity, lastAccessTime }) => {
      const seenAt = Number(lastAccessTime?.seconds ?? 0) * 1_000;
      return isOfOtherFormat(identity ?? "") && seenAt > since;
    });
  };

  const lookAt = async (taskQueue: string): Promise<void> => {
    const { count } = await client.workflow.count(`TaskQueue = '${taskQueue}' AND ExecutionStatus = 'Running'`);
    const isOurs = count > 0 && !(await isPolledByOthers(taskQueue));
    const carrier = carriers.get(taskQueue);
    if (isOurs && !carrier) {
      carriers.set(taskQueue, await work(taskQueue));
      logger.info({ taskQueue, workflows: count }, "going on with what an earlier release has started");
    }
    if (!isOurs && carrier) {
      carriers.delete(taskQueue);
      await carrier.stop();
    }
  };

  return {
    /** Takes up queues that nobody else works on, and leaves those that are empty or worked on by others. */
    look: async (): Promise<void> => {
      for (const taskQueue of queues)
        await lookAt(taskQueue).catch((error: unknown) =>
          logger.warn({ err: error, taskQueue }, "the queue of an earlier release is not known"),
        );
    },
    stop: async (): Promise<void> => {
      await Promise.all([...carriers.values()].map((carrier) => carrier.stop()));
    },
  };
};

/** Looks at earlier queues now and then until it is stopped. */
export const drainEarlierQueues = (options: EarlierQueuesOptions): Carrier => {
  const earlier = createEarlierQueues(options);
  const looks = startSweeper({ sweep: earlier.look, intervalMs: TIMING.earlierQueues, onFailure: (error) => options.logger.warn(error) });
  return {
    stop: async () => {
      // What is carried ends at once; what a look is just taking up, after it.
      await Promise.all([earlier.stop(), looks.stop()]);
      await earlier.stop();
    },
  };
};
