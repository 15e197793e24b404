import { proxyActivities, proxyLocalActivities } from "@temporalio/workflow";
import type { Activities, EarlierActivities, LocalActivities, ShortCalls } from "../activity-types";
import { ATTEMPTS, TIMING } from "../../run/timing";

/** Activities that workflows call, with deadlines and retries. */

const backoff = { initialInterval: TIMING.firstPause, backoffCoefficient: 2, maximumInterval: "10s" } as const;

export const { submit } = proxyActivities<Activities>({
  scheduleToCloseTimeout: TIMING.run,
  heartbeatTimeout: TIMING.heartbeatQuick,
  cancellationType: "WAIT_CANCELLATION_COMPLETED",
  retry: backoff,
});
export const { poll } = proxyActivities<Activities>({
  scheduleToCloseTimeout: TIMING.job,
  heartbeatTimeout: TIMING.heartbeat,
  cancellationType: "TRY_CANCEL",
  retry: { ...backoff, maximumAttempts: ATTEMPTS.poll },
});
export const { cancelJob, stopFiles } = proxyActivities<Activities>({
  startToCloseTimeout: TIMING.cancelJob,
  heartbeatTimeout: TIMING.heartbeatQuick,
  retry: { ...backoff, maximumAttempts: ATTEMPTS.cancelJob },
});

/**
 * Options of a request to a provider or receiver. @param timeMs deadline of one attempt; by default the run's deadline, for calls with
 * their own timeouts
 */
const exchange = (maximumAttempts: number, timeMs: number = TIMING.run) =>
  proxyActivities<Activities>({
    startToCloseTimeout: timeMs,
    heartbeatTimeout: TIMING.heartbeat,
    cancellationType: "TRY_CANCEL",
    retry: { ...backoff, maximumAttempts },
  });
export const { runFiles } = exchange(ATTEMPTS.direct);
export const { runText } = exchange(ATTEMPTS.text);
export const { runTransform } = exchange(ATTEMPTS.transform, TIMING.transform);
export const { keepFile } = exchange(ATTEMPTS.keepFile);
export const { httpRequest } = exchange(ATTEMPTS.httpRequest, TIMING.httpRequest);

/** Options of calls in the workflow task. An activity repeats declined and failed calls, so there are no retries here. */
const inTask = (timeMs: number) =>
  proxyLocalActivities<ShortCalls>({
    startToCloseTimeout: timeMs,
    // Aborts the work and waits for its result.
    cancellationType: "WAIT_CANCELLATION_COMPLETED",
    retry: { maximumAttempts: 1 },
  });
export const { shortJob } = inTask(TIMING.direct + TIMING.minute);
export const { shortHttpRequest } = inTask(TIMING.httpRequest + TIMING.localActivity);
export const { shortKeepFile } = inTask(TIMING.keepFile);

/** Options of steps that must succeed, even if services are unavailable for long. Final errors end them; see `local` of the activities. */
const certain = {
  startToCloseTimeout: TIMING.localActivity,
  retry: { initialInterval: 100, backoffCoefficient: 2, maximumInterval: "30s" },
  // Longer pauses become timers of the run, so that an outage doesn't block the worker.
  localRetryThreshold: "2s",
} as const;
export const { claim, settle, beginWait, takeDecision, stepAside, comeBack } = proxyLocalActivities<LocalActivities>({
  ...certain,
  scheduleToCloseTimeout: TIMING.run,
});
export const { takeOver } = proxyLocalActivities<LocalActivities>({ ...certain, scheduleToCloseTimeout: TIMING.run });
export const { extendHold } = proxyLocalActivities<LocalActivities>({ ...certain, scheduleToCloseTimeout: TIMING.extension });

/** Additional time to read before an attempt and to record after it. */
const SEND_MARGIN_MS = 10_000;
const minutely = { initialInterval: "1s", maximumInterval: "1 minute" } as const;
export const { sendWebhook } = proxyActivities<EarlierActivities>({
  startToCloseTimeout: TIMING.webhookAttempt + SEND_MARGIN_MS,
  heartbeatTimeout: TIMING.heartbeatQuick,
  retry: minutely,
});
// Recording is separate from sending, so that an unavailable store doesn't repeat the delivery.
export const { recordAttempt } = proxyLocalActivities<EarlierActivities>({
  ...certain,
  retry: { ...certain.retry, maximumInterval: "1 minute" },
});

export const { renewDuePlans, enforceRetention, checkLedger, sendRetiringNotices } = proxyActivities<Activities>({
  startToCloseTimeout: TIMING.renew,
  scheduleToCloseTimeout: TIMING.renew,
  heartbeatTimeout: TIMING.renewHeartbeat,
  retry: minutely,
});
/** Steps of an erasure are retried until they succeed. */
const untilDone = { startToCloseTimeout: TIMING.minute, retry: minutely } as const;
export const { beginErasure, endErasure } = proxyActivities<Activities>(untilDone);
export const { endUnderWay } = proxyActivities<Activities>({
  ...untilDone,
  startToCloseTimeout: TIMING.erase,
  heartbeatTimeout: TIMING.renewHeartbeat,
});
export const { eraseEverywhere } = proxyActivities<Activities>({
  ...untilDone,
  startToCloseTimeout: TIMING.erase,
  heartbeatTimeout: 2 * TIMING.erasePage,
});
export const { buildExport } = proxyActivities<Activities>({
  startToCloseTimeout: TIMING.exportAttempt,
  heartbeatTimeout: TIMING.minute,
  retry: { ...minutely, maximumInterval: "10 minutes" },
});
export const { startScheduled } = proxyActivities<Activities>({
  startToCloseTimeout: TIMING.minute,
  scheduleToCloseTimeout: TIMING.scheduledStart,
  retry: minutely,
});
/** Heartbeats are sent throughout a turn, so that a dead worker is noticed within the heartbeat timeout. */
export const { carryBatch } = proxyActivities<Activities>({
  startToCloseTimeout: 2 * TIMING.batchTurn,
  heartbeatTimeout: TIMING.heartbeat,
  retry: minutely,
});
export const { announceBatch, sendAlert } = proxyActivities<Activities & EarlierActivities>({
  startToCloseTimeout: TIMING.webhookAttempt + SEND_MARGIN_MS,
  retry: minutely,
});
export const { sendMail } = proxyActivities<EarlierActivities>({
  startToCloseTimeout: TIMING.mailAttempt,
  heartbeatTimeout: TIMING.heartbeat,
  retry: minutely,
});
export const { reconcile } = proxyActivities<Activities>({
  startToCloseTimeout: TIMING.reconcile,
  heartbeatTimeout: TIMING.heartbeat,
  retry: { maximumAttempts: 3 },
});
export const { saveBundleStep, moveBundleAlias } = proxyActivities<Activities>({
  startToCloseTimeout: TIMING.minute,
  scheduleToCloseTimeout: TIMING.bundle,
  retry: minutely,
});
