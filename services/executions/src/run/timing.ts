import { WAITING_HOURS } from "@nodeloom/kernel/graph";

/** All timeouts of runs, in milliseconds. */
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

export const TIMING = {
  /** Longest duration of a run, including its time in the queue. */
  run: 24 * HOUR,
  /** Temporal's deadline of a run, in case the run's own deadline fails. */
  runAtMost: 25 * HOUR,
  /** Longest total wait for decisions. The run's own clock stops during the wait. */
  waiting: WAITING_HOURS * HOUR,
  /** Pause before a decided run asks for its place again, in case the signal was lost. */
  placeAgain: MINUTE,
  placeAgainLongest: 10 * MINUTE,
  /** Time after which Temporal is asked about a waiting run. */
  unseenWaiting: HOUR,
  /** Longest wait in the queue. */
  queued: 24 * HOUR,
  /** Deadline of the hold. Afterwards the run is refused as unavailable. */
  holdCall: 3 * SECOND,
  /** Longest time that a run stays undecided. The caller waits for the decision. */
  acceptance: 10 * SECOND,
  /** How long a start waits for its workflow's first step, within its turn. */
  claim: 2 * SECOND,
  /** Deadline for starting a workflow. */
  startCall: 4 * SECOND,
  /** Age at which the relay creates the usage row of a synchronous run that is still running. */
  unstartedUsage: 10 * SECOND,
  /** How long the announcement of a run's end waits until the usage row is written and the place is free. */
  deliverFirst: 500,
  /** How long a reader of an ended run waits until the usage row is written and the place is free. */
  endReader: SECOND,
  /** Deadline for reporting an ended run to usage. Afterwards the relay reports it. */
  usageCall: 2 * SECOND,
  localActivity: 10 * SECOND,
  /** Deadline for setting the monthly credits of an account whose tier has changed. */
  rolloutCall: 2 * SECOND,
  /** How long the tests of a batch are measured in total, and how long one attempt waits for a judge. */
  measuring: 30 * MINUTE,
  measuringWait: 5 * SECOND,
  /** Deadline for measuring a file, with its wait for a turn. */
  measureFile: 16 * MINUTE,
  /** How long a step of an import is retried. */
  bundle: HOUR,
  /** How long a request waits for its import. */
  bundleWait: MINUTE,
  /** Pause before the first retry of a call. */
  firstPause: 250,
  /** Age at which an unrepeatable submission counts as lost if its process doesn't respond. */
  submitLost: 25 * SECOND,
  /** How long extending a hold is retried while billing is unavailable. */
  extension: 30 * MINUTE,
  /** How long an unreachable or overloaded provider is retried, from the first request. */
  submitTotal: 2 * MINUTE,
  /** Used instead of `submitTotal` if a fallback can be called. */
  submitBeforeAnother: 5 * SECOND,
  /** Minimum time that must remain of `submitTotal` to start another attempt. */
  submitReserve: 30 * SECOND,
  /** How long a provider must fail without interruption before its circuit opens. */
  breakerOutage: 5 * SECOND,
  /** Pauses of an open circuit after the first and each further consecutive opening. */
  breakerPauses: [2 * SECOND, 5 * SECOND, 10 * SECOND, 20 * SECOND, 30 * SECOND],
  /** How long a call waits for the trial call of an open circuit. */
  breakerProbe: SECOND,
  /** Pause before the retry of a call for which the provider's queue was full. */
  lineFull: 5 * SECOND,
  /** How long one attempt waits for the platform's own services and databases if they are unavailable. */
  servicesAway: 10 * MINUTE,
  /** How long an output waits for an unavailable moderation hook, because the call must not be repeated. */
  outputCheck: 4 * MINUTE,
  /** Used instead of `outputCheck` for HTTP nodes, whose activity has a minute in total. */
  answerCheck: 20 * SECOND,
  /** Longest pause between polls that a provider can ask for. */
  pollPause: MINUTE,
  /** How long a job is polled in the workflow task that submitted it. */
  shortPoll: 2 * SECOND,
  /** How long consecutive polls can fail. */
  pollSilence: 3 * MINUTE,
  /** Longest duration of a provider's job. */
  job: 2 * HOUR,
  /** Deadline of one call of a text model, from its first request. */
  text: 7 * MINUTE,
  /** Deadline of one request answered with files, from the first request and including storage. */
  direct: 9 * MINUTE,
  /** How long files that a process kept on its disk can be missing while media is available. Afterwards the disk counts as lost. */
  spoolLost: 10 * MINUTE,
  /** How long pieces of a text are collected before they are sent. */
  textBatch: 100,
  /** Shortest time between two previews of a call. */
  previewEvery: SECOND,
  /** How long progress waits to share a write. */
  progressGathered: 2,
  /** Used instead of `progressGathered` for synchronous runs, whose clients are answered at the end. */
  progressHeld: 500,
  /** Interval in which a watcher renews its subscription. */
  textWanted: 5 * SECOND,
  textForgotten: 12 * SECOND,
  httpRequest: 60 * SECOND,
  /** How long a call that exceeds its user's limit on outgoing requests waits for its turn. */
  outgoingWait: 10 * MINUTE,
  /** Deadline for storing one file of a result. */
  keepFile: 3 * MINUTE,
  /** Deadline of one file operation, including the wait for its turn. */
  transform: 45 * MINUTE,
  /** How long a call can go without a heartbeat. */
  heartbeat: 30 * SECOND,
  /** Used instead of `heartbeat` for short calls that are safe to repeat. Most end before their first heartbeat. */
  heartbeatQuick: 5 * SECOND,
  /** Number of heartbeats within the heartbeat timeout. */
  beatsPerTimeout: 3,
  /** Deadline for cancelling a job, including storing its finished part. */
  cancelJob: 2 * MINUTE,
  /** Longest pause that a provider can ask for before a cancellation is retried. */
  cancelPause: 20 * SECOND,
  webhookAttempt: 15 * SECOND,
  /** Pauses before each webhook attempt. */
  webhookSchedule: [0, 5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 10 * HOUR],
  /** Silence of the event channel after which the store is read. */
  channelSilence: 2 * SECOND,
  /** Pause between further reads of the store. */
  storeRead: 2 * SECOND,
  /** Interval of checks for runs that no workflow runs. */
  reconcileEvery: 5 * MINUTE,
  /** Deadline of a workflow task whose worker may have to replay tens of thousands of events first. Temporal's own is 10 seconds. */
  longTask: 30 * SECOND,
  /** How long a run's workflow task must fail before the run is ended. */
  failingTask: 10 * MINUTE,
  /** Interval of checks for failing workflow tasks. */
  failingTaskEvery: 10 * SECOND,
  /** Deadline of one check for a failing task, because a cancellation waits for it. */
  failingTaskCall: SECOND,
  /** Time after which Temporal is asked about a run that wasn't seen. */
  unseenRun: 10 * MINUTE,
  /** Deadline of one attempt at a mail. It is longer than the mail server's own timeouts. */
  mailAttempt: 5 * MINUTE,
  /** How overdue a webhook attempt must be before Temporal is asked for its delivery. */
  lateDelivery: 10 * MINUTE,
  /** Longest duration of one reconciliation. */
  reconcile: 4 * MINUTE,
  /** Interval of checks for plans whose month has ended. */
  renewEvery: HOUR,
  /** Longest duration of one check for plans. The next check continues. */
  renew: 50 * MINUTE,
  /** Deadline of one page of plans. */
  renewPage: 20 * SECOND,
  /** Heartbeat timeout while a page is renewed. */
  renewHeartbeat: MINUTE,
  /** Interval of checks for expired data. */
  retentionEvery: HOUR,
  /** Interval of full checks of the ledger. */
  ledgerEvery: 7 * 24 * HOUR,
  /** Deadline of one page of accounts in a full check of the ledger. */
  ledgerPage: 40 * SECOND,
  /** Interval of checks for models that providers will shut down soon. */
  retiringEvery: 24 * HOUR,
  /** How long a scheduled start is retried while services are unavailable. */
  scheduledStart: 10 * MINUTE,
  /** Longest activity that processes a batch before the next activity continues. */
  batchTurn: 10 * MINUTE,
  /** How long writing a batch's rows can take before its creation counts as lost. */
  batchPreparing: 10 * MINUTE,
  /** First and longest pause before an item is retried. The item found no place, or a service was unavailable. */
  batchPause: SECOND,
  batchLongestPause: 30 * SECOND,
  /** Longest pause between two items that test whether an unavailable provider is back. */
  batchTrial: 5 * MINUTE,
  /** How long a batch waits for an unavailable provider before it is paused. */
  batchOutage: 24 * HOUR,
  /** Interval of checks of a batch's runner. A revoked key or lost access ends the batch. */
  batchRunner: SECOND,
  /** Interval of checks for runs and batches that haven't ended in an account that is being erased. */
  endingLook: 2 * SECOND,
  /** Deadline of one page of an erasure. */
  erasePage: MINUTE,
  /** Deadline of one attempt at an erasure. The next attempt continues. */
  erase: 12 * HOUR,
  /** Deadline of all attempts at an archive, and of one attempt, which starts from the beginning. */
  exportAtMost: 24 * HOUR,
  exportAttempt: 2 * HOUR,
  minute: MINUTE,
} as const;

/** Maximum attempts of activities that are safe to repeat. */
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
