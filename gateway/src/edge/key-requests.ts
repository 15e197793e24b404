import { DomainError, LIMITS, UUID } from "@nodeloom/kernel";
import { amountCounter, startSweeper, type Logger } from "@nodeloom/platform";
import type { identity } from "@nodeloom/proto";
import type { Response } from "express";
import type { Caller } from "../auth/caller";
import type { Services } from "../clients/services";
import type { RenderedReply } from "./idempotency";

/** The request log of API keys. Requests wait in memory and are stored in batches, so that logging delays no request. */

const INTERVAL_MS = 2_000;
const DEADLINE_MS = 5_000;
/** Maximum requests in memory. Further ones are dropped and counted. */
const MOST_WAITING = 5_000;
const FIRST_ERROR = 400;
const FIRST_SERVER_ERROR = 500;
const CODE = /^\w{1,64}$/;
/** Routes whose parameter `id` is an execution. */
const OF_EXECUTION = "/api/executions/:id";

const dropped = amountCounter("nodeloom.key_requests.dropped", "requests by keys that are missing in the request log");

export interface KeyRequests {
  /** Adds a request to the log when its response ends. */
  follow(request: FollowedRequest): void;
  /** Stores what is waiting and stops. */
  stop(): Promise<void>;
}

/** What the log needs to know of a request at its end. The pipeline fills it in. */
export interface RequestOutcome {
  /** Visitors of apps and senders of hooks aren't logged. */
  caller?: Pick<Caller, "key" | "visitor" | "hook"> | undefined;
  error?: unknown;
  reply?: Pick<RenderedReply, "status" | "text"> | undefined;
}

export interface FollowedRequest {
  route: { path: string };
  response: Response;
  outcome: RequestOutcome;
}

const executionOf = ({ route, response }: FollowedRequest): string => {
  const { statusCode: status } = response;
  // A rejected request has the id of a run that never existed.
  if (status >= FIRST_ERROR && status < FIRST_SERVER_ERROR) return "";
  const id = route.path.startsWith(OF_EXECUTION) ? response.req.params.id : response.getHeader("X-Execution-Id");
  return typeof id === "string" && UUID.test(id.toLowerCase()) ? id.toLowerCase() : "";
};

/** The code in an error that was rendered earlier, for example under an Idempotency-Key. */
const renderedCode = (text: string): string => {
  try {
    const body = JSON.parse(text) as { code?: unknown; error?: { code?: unknown } };
    const code = body.code ?? body.error?.code;
    return typeof code === "string" && CODE.test(code) ? code : "";
  } catch {
    return "";
  }
};

const codeOf = ({ error, reply }: RequestOutcome): string => {
  if (error !== undefined) return error instanceof DomainError ? error.reason : "INTERNAL";
  return reply && reply.status >= FIRST_ERROR ? renderedCode(reply.text) : "";
};

export interface KeyRequestsOptions {
  identity: Pick<Services["identity"], "recordKeyRequests">;
  logger: Logger;
  intervalMs?: number;
  mostWaiting?: number;
}

export const createKeyRequests = (options: KeyRequestsOptions): KeyRequests => {
  const { identity: identities, logger, intervalMs = INTERVAL_MS, mostWaiting = MOST_WAITING } = options;
  const waiting: identity.KeyRequest[] = [];

  /** A batch that can't be stored is dropped, because the log must not grow while identity is unavailable. */
  const store = async (): Promise<void> => {
    while (waiting.length > 0) {
      const requests = waiting.splice(0, LIMITS.keyRequests);
      try {
        await identities.recordKeyRequests({ requests }, { deadlineMs: DEADLINE_MS });
      } catch (error) {
        dropped(requests.length);
        logger.warn({ err: error, requests: requests.length }, "requests of keys are missing in the request log");
        return;
      }
    }
  };
  const sweeper = startSweeper({ sweep: store, intervalMs, onFailure: (error) => logger.error({ err: error }, "the request log failed") });

  return {
    follow: (request) => {
      const startedAtMs = Date.now();
      const { route, response, outcome } = request;
      // Node warns of a leak above ten listeners, which a streamed response has without this one.
      response.setMaxListeners(response.getMaxListeners() + 1);
      response.once("close", () => {
        const { key, visitor, hook } = outcome.caller ?? { key: null };
        if (!key || visitor || hook) return;
        if (waiting.length >= mostWaiting) return dropped(1);
        waiting.push({
          ...{ keyId: key.id, at: new Date(startedAtMs), method: response.req.method, route: route.path },
          ...{ status: response.statusCode, durationMs: Date.now() - startedAtMs, errorCode: codeOf(outcome) },
          requestId: String(response.getHeader("X-Request-Id") ?? ""),
          executionId: executionOf(request),
          ip: response.req.ip ?? "",
        });
      });
    },
    stop: async () => {
      await sweeper.stop();
      await store();
    },
  };
};
