import { WAITING_HOURS } from "@nodeloom/kernel/graph";

/** All timeouts of runs, in milliseconds. */
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

export const TIMING = {
  /** Longest run, including the queue. */
  run: 24 * HOUR,
  /** Temporal ends a run that its own deadline missed. */
  runAtMost: 25 * HOUR,
  /** Longest total wait for decisions; the run's own clock stops meanwhile. */
  waiting: WAITING_HOURS * HOUR,
  /** Pause before a decided run asks for its place again, in case the signal was lost. */
  placeAgain: MINUTE,
  placeAgainLongest: 10 * MINUTE,
  /** When Temporal is asked about a waiting run. */
  unseenWaiting: HOUR,
  /** Longest wait in the queue. */
  queued: 24 * HOUR,
  /** Deadline of the hold; afterwards the run is refused as unavailable. */
  holdCall: 3 * SECOND,
  /** Longest time undecided; the caller waits for it. */
  acceptance: 10 * SECOND,
  /** How long a start waits for its workflow's first step, within its turn. */
  claim: 2 * SECOND,
  /** Deadline for starting a workflow. */
  startCall: 4 * SECOND,
  /** Age at which the relay creates the usage row of a synchronous run that continues. */
  unstartedUsage: 10 * SECOND,
  /** How long the announcement of an end waits for the usage row and the place. */
  deliverFirst: 500,
  /** How long a reader of an end waits for those. */
  endReader: SECOND,
  /** Deadline for reporting an end to usage; afterwards the relay reports it. */
  usageCall: 2 * SECOND,
  localActivity: 10 * SECOND,
  /** How long a step of an import is retried. */
  bundle: HOUR,
  /** How long a request waits for its import. */
  bundleWait: MINUTE,
  /** Before the first retry of a call. */
  firstPause: 250,
  /** Age at which an unrepeatable submission of a silent process counts as lost. */
  submitLost: 25 * SECOND,
  /** How long extending a hold is retried while billing is unavailable. */
  extension: 30 * MINUTE,
  /** How long an unreachable or overloaded provider is retried, from the first request. */
  submitTotal: 2 * MINUTE,
  /** Like `submitTotal`, if a fallback can be called. */
  submitBeforeAnother: 5 * SECOND,
  /** Time of `submitTotal` that must be left to start another attempt. */
  submitReserve: 30 * SECOND,
  /** How long a provider must fail without a break before its circuit opens. */
  breakerOutage: 5 * SECOND,
  /** Pauses of an open circuit, for consecutive openings. */
  breakerPauses: [2 * SECOND, 5 * SECOND, 10 * SECOND, 20 * SECOND, 30 * SECOND],
  /** How long a call waits for the trial call of an open circuit. */
  breakerProbe: SECOND,
  /** When a call that found its provider's queue full tries again. */
  lineFull: 5 * SECOND,
  /** How long one attempt waits for our own unavailable services and databases. */
  servicesAway: 10 * MINUTE,
  /** How long an output waits for an unavailable moderation hook: the call was made, and must not be repeated. */
  outputCheck: 4 * MINUTE,
  /** Like `outputCheck`, for HTTP nodes, whose activity has a minute in total. */
  answerCheck: 20 * SECOND,
  /** Longest pause between polls that a provider can ask for. */
  pollPause: MINUTE,
  /** How long a job is polled in the workflow task that submitted it. */
  shortPoll: 2 * SECOND,
  /** How long polls can fail in a row. */
  pollSilence: 3 * MINUTE,
  /** Longest job of a provider. */
  job: 2 * HOUR,
  /** One call of a text model, from its first request. */
  text: 7 * MINUTE,
  /** One request answered with files, from the first request and including storage. */
  direct: 9 * MINUTE,
  /** How long pieces of a text are collected before they are sent. */
  textBatch: 100,
  /** How long progress waits to share a write. */
  progressGathered: 2,
  /** Like `progressGathered`, for synchronous runs, whose clients are answered at the end. */
  progressHeld: 500,
  /** Interval in which a watcher renews its subscription. */
  textWanted: 5 * SECOND,
  textForgotten: 12 * SECOND,
  httpRequest: 60 * SECOND,
  /** How long a call beyond its user's outgoing limit waits for its turn. */
  outgoingWait: 10 * MINUTE,
  /** Fetching one file of a result into our storage. */
  keepFile: 3 * MINUTE,
  /** One file operation, including the wait for its turn. */
  transform: 45 * MINUTE,
  /** How long a call can go without a heartbeat. */
  heartbeat: 30 * SECOND,
  /** Like `heartbeat`, for short calls that are safe to repeat; most end before their first one. */
  heartbeatQuick: 5 * SECOND,
  /** Heartbeats in that time. */
  beatsPerTimeout: 3,
  /** Includes storing the finished part. */
  cancelJob: 2 * MINUTE,
  /** Longest pause that a provider can ask for before a cancellation is retried. */
  cancelPause: 20 * SECOND,
  webhookAttempt: 15 * SECOND,
  /** Pauses before each webhook attempt. */
  webhookSchedule: [0, 5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 10 * HOUR],
  /** Silence of the event channel after which the store is read. */
  channelSilence: 2 * SECOND,
  /** Between reads of the store after that. */
  storeRead: 2 * SECOND,
  /** Between two looks for runs that nothing carries. */
  reconcileEvery: 5 * MINUTE,
  /** How long a run's workflow task must fail before the run is ended. */
  failingTask: 10 * MINUTE,
  /** Between two looks for failing workflow tasks. */
  failingTaskEvery: 10 * SECOND,
  /** Deadline of that lookup, because a cancellation waits for it. */
  failingTaskCall: SECOND,
  /** When Temporal is asked about a run that wasn't seen. */
  unseenRun: 10 * MINUTE,
  /** One attempt at a mail: longer than the mail server's own timeouts. */
  mailAttempt: 5 * MINUTE,
  /** How overdue a webhook attempt must be before Temporal is asked for its delivery. */
  lateDelivery: 10 * MINUTE,
  /** Longest such look. */
  reconcile: 4 * MINUTE,
  /** Between two looks for plans whose month is over. */
  renewEvery: HOUR,
  /** Longest such look; the next one continues. */
  renew: 50 * MINUTE,
  /** One page of them. */
  renewPage: 20 * SECOND,
  /** A page can take this long without a heartbeat. */
  renewHeartbeat: MINUTE,
  /** Between two looks for expired data. */
  retentionEvery: HOUR,
  /** Between two full checks of the ledger. */
  ledgerEvery: 7 * 24 * HOUR,
  /** Accounts of one page take their own time in such a check. */
  ledgerPage: 40 * SECOND,
  /** Between two looks for models that providers shut down soon. */
  retiringEvery: 24 * HOUR,
  /** How long a scheduled start is retried while services are unavailable. */
  scheduledStart: 10 * MINUTE,
  /** How long one activity carries a batch before the next one. */
  batchTurn: 10 * MINUTE,
  /** How long writing a batch's rows can take before its creation counts as lost. */
  batchPreparing: 10 * MINUTE,
  /** Before an item is started again that found no place or an unavailable service: first pause, and maximum. */
  batchPause: SECOND,
  batchLongestPause: 30 * SECOND,
  /** Interval of checks of a batch's runner: a revoked key or lost access ends the batch. */
  batchRunner: SECOND,
  /** Between two looks for what hasn't ended in an account being erased. */
  endingLook: 2 * SECOND,
  /** One page of an erasure. */
  erasePage: MINUTE,
  /** One attempt at an erasure; the next continues. */
  erase: 12 * HOUR,
  /** All attempts at an archive, and one attempt, which starts from the beginning. */
  exportAtMost: 24 * HOUR,
  exportAttempt: 2 * HOUR,
  minute: MINUTE,
} as const;

/** Attempts of activities that are safe to repeat. */
export const ATTEMPTS = {
  poll: 10_000,
  text: 10,
  textBroken: 3,
  direct: 10,
  httpRequest: 10,
  keepFile: 10,
  transform: 10,
  cancelJob: 3,
  surprise: 10,
} as const;
