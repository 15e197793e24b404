import { WAITING_HOURS } from "@nodeloom/kernel/graph";

/** Every wait of a run, in one place. Milliseconds. */
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

export const TIMING = {
  /** Longest run, queueing included. */
  run: 24 * HOUR,
  /** When Temporal itself ends a run that its own deadline did not end. */
  runAtMost: 25 * HOUR,
  /** Longest that a run waits for decisions, all of its approvals together; its own clock stands still meanwhile. */
  waiting: WAITING_HOURS * HOUR,
  /** Pauses before a run that was decided asks again for its place in the queue, of which it hears by a signal. */
  placeAgain: MINUTE,
  placeAgainLongest: 10 * MINUTE,
  /** How long a run that waits for a decision goes unseen before Temporal is asked for it. */
  unseenWaiting: HOUR,
  /** How long a run may wait in the queue. */
  queued: 24 * HOUR,
  /** What the hold may take before the run is refused as unavailable. */
  holdCall: 3 * SECOND,
  /** How long a run may stay undecided before it is refused; its caller waits for that. */
  acceptance: 10 * SECOND,
  /** How long a start waits for its workflow's first step, in its turn. */
  claim: 2 * SECOND,
  /** What starting a workflow may take. */
  startCall: 4 * SECOND,
  /** After so long the relay begins the usage row of a synchronous run that goes on. */
  unstartedUsage: 10 * SECOND,
  /** How long an end waits for its usage row and its place before it is announced. */
  deliverFirst: 500,
  /** How long a reader of an end waits for those. */
  endReader: SECOND,
  /** What usage may take to hear of an end before that is left for later. */
  usageCall: 2 * SECOND,
  localActivity: 10 * SECOND,
  /** Before a call that failed for now is made again the first time. */
  firstPause: 250,
  /** How long a submission that can't be repeated may have been under way in a process that is silent, before it counts as lost. */
  submitLost: 25 * SECOND,
  /** How long it is tried to hold more, while billing is away. */
  extension: 30 * MINUTE,
  /** How long a provider that is unreachable, or too busy, is tried again, from when it was asked first. */
  submitTotal: 2 * MINUTE,
  /** The same where another model can be called in its place. */
  submitBeforeAnother: 5 * SECOND,
  /** What must be left of that for one attempt, when a provider is waited for. */
  submitReserve: 30 * SECOND,
  /** How long a provider must have failed without a break to be taken for away. */
  breakerOutage: 5 * SECOND,
  /** How long a provider that is away is left alone: the first time, the second time in a row, … */
  breakerPauses: [2 * SECOND, 5 * SECOND, 10 * SECOND, 20 * SECOND, 30 * SECOND],
  /** How long a call waits for the outcome of another one, which tries whether the provider is back. */
  breakerProbe: SECOND,
  /** When a call comes again that found the queue for its provider full. */
  lineFull: 5 * SECOND,
  /** How long one attempt waits for services and databases of ours that are away. */
  servicesAway: 10 * MINUTE,
  /** How long an output waits for a moderation hook that is away: its call has been made, and must not be made again. */
  outputCheck: 4 * MINUTE,
  /** The same of an HTTP node's answer, whose activity has a minute for all of it. */
  answerCheck: 20 * SECOND,
  /** Longest pause between polls that a provider may ask for. */
  pollPause: MINUTE,
  /** How long a job is followed in the workflow task that submitted it. */
  shortPoll: 2 * SECOND,
  /** How long polls may fail in a row. */
  pollSilence: 3 * MINUTE,
  /** Longest job of a provider. */
  job: 2 * HOUR,
  /** One call of a text model, from when its provider was asked. */
  text: 7 * MINUTE,
  /** One request that is answered with files, from when its provider was asked, storing them included. */
  direct: 9 * MINUTE,
  /** How long pieces of a text are gathered before its followers get them. */
  textBatch: 100,
  /** How long progress of a run waits for more of it to be written with. */
  progressGathered: 2,
  /** The same for synchronous runs, whose clients are answered at their end. */
  progressHeld: 500,
  /** How often a watcher says that it still follows, and how long that holds. */
  textWanted: 5 * SECOND,
  textForgotten: 12 * SECOND,
  httpRequest: 60 * SECOND,
  /** How long a call that is too many for its user's budget waits for its turn. */
  outgoingWait: 10 * MINUTE,
  /** One file of a result that is fetched into our storage. */
  keepFile: 3 * MINUTE,
  /** One operation on files, waiting for its turn included. */
  transform: 45 * MINUTE,
  /** How long a call may go without a sign of life. */
  heartbeat: 10 * SECOND,
  /** The same for calls that do no harm when they are made twice; jobs that are many are given more. */
  heartbeatQuick: 5 * SECOND,
  heartbeatLongest: MINUTE,
  /** Signs of life in that time. */
  beatsPerTimeout: 3,
  /** Also stores what had finished by then. */
  cancelJob: 2 * MINUTE,
  /** Longest pause before a cancellation is tried again that a provider may ask for. */
  cancelPause: 20 * SECOND,
  webhookAttempt: 15 * SECOND,
  /** Pauses before each webhook attempt. */
  webhookSchedule: [0, 5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 10 * HOUR],
  /** How long the event channel may be silent before the store is read. */
  channelSilence: 2 * SECOND,
  /** Between reads of the store after that. */
  storeRead: 2 * SECOND,
  /** Between two looks for runs that nothing carries any more. */
  reconcileEvery: 5 * MINUTE,
  /** How long the workflow task of a run must have failed before the run is ended. */
  failingTask: 10 * MINUTE,
  /** Between two looks for workflows whose tasks fail. */
  failingTaskEvery: 10 * SECOND,
  /** What finding out whether a workflow task fails may take: a cancellation waits for it. */
  failingTaskCall: SECOND,
  /** How long a run may go unseen before Temporal is asked for it. */
  unseenRun: 10 * MINUTE,
  /** One attempt at a mail: longer than all that a mail server may take. */
  mailAttempt: 5 * MINUTE,
  /** How long an attempt at a webhook may be due before Temporal is asked for its delivery. */
  lateDelivery: 10 * MINUTE,
  /** Longest such look. */
  reconcile: 4 * MINUTE,
  /** Between two looks for plans whose month is over. */
  renewEvery: HOUR,
  /** Longest such look; what is left is due at the next. */
  renew: 50 * MINUTE,
  /** One page of them. */
  renewPage: 20 * SECOND,
  /** Renewals may write for a page's time without a beat. */
  renewHeartbeat: MINUTE,
  /** Between two looks for what was kept long enough. */
  retentionEvery: 24 * HOUR,
  /** Between two checks of every account against all of its rows. */
  ledgerEvery: 7 * 24 * HOUR,
  /** Some accounts of such a check, of which each page takes some time of its own. */
  ledgerPage: 40 * SECOND,
  /** How long a schedule's time is tried while services are away. */
  scheduledStart: 10 * MINUTE,
  /** How long one activity carries a batch before another goes on. */
  batchTurn: 10 * MINUTE,
  /** How long the rows of a batch may take to be written before its creation counts as lost. */
  batchPreparing: 10 * MINUTE,
  /** Before an item is begun again that found no place, or something away: the first time, and at most. */
  batchPause: SECOND,
  batchLongestPause: 30 * SECOND,
  /** How long a batch goes without looking at who runs it: a key that is revoked, and access that has ended, end it at once. */
  batchRunner: SECOND,
  /** Between two looks at what of an account that is being erased has not ended. */
  endingLook: 2 * SECOND,
  /** One page of what is erased. */
  erasePage: MINUTE,
  /** One attempt at erasing what there is; the next goes on. */
  erase: 12 * HOUR,
  /** How long an archive is tried to be made, and one attempt at it, which begins anew. */
  exportAtMost: 24 * HOUR,
  exportAttempt: 2 * HOUR,
  minute: MINUTE,
} as const;

/** Retries of the activities that may be repeated safely. */
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
