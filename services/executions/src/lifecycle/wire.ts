import type { Execution } from "./execution";
import type { Stores } from "../record/stores";
import { createAbandon, type AbandonOptions } from "./abandon";
import { createApprovals } from "./approvals";
import { createEnd, type EndOptions, withGivenFiles, type GivenFilesOptions } from "./end";
import { createHolds } from "./holds";
import { createOutbox, type OutboxOptions } from "./outbox";
import { createQueue, type QueueOptions } from "./queue";

export interface LifecycleOptions extends Pick<OutboxOptions, "reports" | "webhooks" | "canaries" | "mailApprovers" | "erase" | "logger"> {
  stores: Stores;
  execution: Execution;
  billing: Parameters<typeof createHolds>[0]["billing"] & EndOptions["billing"];
  starter: QueueOptions["starter"] & OutboxOptions["starter"] & AbandonOptions["starter"];
  /** Absent if runs don't create files. */
  files?: GivenFilesOptions;
}

export type Lifecycle = ReturnType<typeof wireLifecycle>;

export const wireLifecycle = ({ stores, execution, billing, starter, files, ...rest }: LifecycleOptions) => {
  const holds = createHolds({ billing });
  const queue = createQueue({ stores, starter, logger: rest.logger });
  const outbox = createOutbox({ stores, holds, queue, starter, ...rest });
  const plainEnd = createEnd({ billing, execution, stores, outbox });
  const end = files ? withGivenFiles(plainEnd, files) : plainEnd;
  return {
    ...{ holds, queue, outbox, end },
    approvals: createApprovals({ stores, execution, queue, outbox }),
    abandon: createAbandon({ stores, starter, end }),
  };
};
