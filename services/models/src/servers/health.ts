import { isDeepStrictEqual } from "node:util";
import type { OwnServers } from "@nodeloom/platform";
import { READY, type ModelStatus } from "../local-models";
import { listServer, ServerProblem } from "./listing";
import type { ListedModel, ServerRecord } from "./server-record";

/** Checks health and models of servers in the background, so that lists don't wait for a machine that is switched off. */

/** Age after which an answer is refreshed. */
const FRESH_MS = 5_000;
/** Age up to which a stale answer is used during the refresh. */
const USABLE_MS = 60_000;
const RETRY_SECONDS = 15;

interface HealthCheck {
  at: number;
  status: ModelStatus;
}

const unavailableStatus = (name: string, problem: string): ModelStatus => ({
  state: "away",
  reason: `the server ${name} can't be used now: ${problem}`,
  retryAfterSeconds: RETRY_SECONDS,
});

export interface HealthOptions {
  servers: OwnServers;
  keyOf: (server: ServerRecord) => Promise<string | undefined>;
  /** Called when a server's models have changed. */
  onListed: (server: ServerRecord, listed: ListedModel[]) => Promise<void>;
  onError: (error: unknown) => void;
  now?: () => number;
}

export const createHealth = ({ servers, keyOf, onListed, onError, now = Date.now }: HealthOptions) => {
  const statuses = new Map<string, HealthCheck>();
  const asking = new Map<string, Promise<ModelStatus>>();
  /** Changes with the server's address and key, which triggers a new probe. */
  const idOf = ({ _id, url, hasKey, createdAt }: ServerRecord): string => `${_id} ${createdAt.getTime()} ${url} ${hasKey}`;

  const statusOf = async (server: ServerRecord): Promise<ModelStatus> => {
    try {
      const listed = await listServer(servers, server, await keyOf(server));
      if (!isDeepStrictEqual(listed, server.listed)) await onListed(server, listed);
      return READY;
    } catch (error) {
      if (error instanceof ServerProblem) return unavailableStatus(server.name, error.message);
      onError(error);
      return unavailableStatus(server.name, "it could not be checked: see the log of models");
    }
  };

  const ask = (server: ServerRecord): Promise<ModelStatus> => {
    const id = idOf(server);
    const pending = asking.get(id);
    if (pending) return pending;
    const pendingStatus = statusOf(server).then((status) => {
      statuses.set(id, { at: now(), status });
      asking.delete(id);
      return status;
    });
    asking.set(id, pendingStatus);
    return pendingStatus;
  };

  return {
    statusOf: async (server: ServerRecord): Promise<ModelStatus> => {
      const last = statuses.get(idOf(server));
      const age = last ? now() - last.at : Infinity;
      if (last && age < FRESH_MS) return last.status;
      const pendingStatus = ask(server);
      return last && age < USABLE_MS ? last.status : pendingStatus;
    },
    /** Probes the server immediately. */
    ask,
    /** Deletes the state of removed servers. */
    keep: (records: readonly ServerRecord[]): void => {
      const ids = new Set(records.map(idOf));
      for (const id of statuses.keys()) if (!ids.has(id)) statuses.delete(id);
    },
  };
};
export type Health = ReturnType<typeof createHealth>;
