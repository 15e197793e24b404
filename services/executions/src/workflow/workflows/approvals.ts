/** A run that waits for decisions needs a timer. It needs no place while none of its other steps is under way. */
import { condition, defineSignal, setHandler } from "@temporalio/workflow";
import { approvalSettings, valueTypeOf, type PlanStep } from "@nodeloom/kernel/graph";
import { TIMING } from "../../run/timing";
import type { RunInput } from "../../run/types";
import { createWaitingTime, type ApprovalOutcome } from "../../run/approvals";
import { beginWait, comeBack, stepAside, takeDecision } from "./steps";

/** Signal: the row has a decision on this node. */
export const decidedSignal = defineSignal<[string]>("decided");
/** Signal: the run has its place again. */
export const placedSignal = defineSignal("placed");

const HOUR_MS = 3_600_000;

export type Approvals = ReturnType<typeof createApprovals>;

export const createApprovals = (input: RunInput) => {
  const { executionId, userId, holdId, concurrency, attempt, reuse } = input;
  const time = createWaitingTime();
  /** Nodes whose decision was signalled but not read yet. */
  const heardNodes = new Set<string>();
  let isPlaced = false;
  let [running, waiting] = [0, 0];
  let hasPlace = concurrency > 0;
  /** Chain of changes of the place, so that they run one after another. */
  let turn: Promise<void> = Promise.resolve();

  setHandler(decidedSignal, (nodeId) => void heardNodes.add(nodeId));
  setHandler(placedSignal, () => {
    isPlaced = true;
  });

  const isIdle = (): boolean => waiting > 0 && running === waiting;

  const inTurn = (work: () => Promise<void>): Promise<void> => {
    const next = turn.then(work);
    turn = next.catch(() => undefined);
    return next;
  };

  /** Frees the place if the run waits only for decisions. If that fails, the place is freed when the run ends. */
  const giveWay = (): void => {
    if (!hasPlace || !isIdle()) return;
    void inTurn(async () => {
      if (!hasPlace || !isIdle()) return;
      await stepAside({ userId, holdId });
      hasPlace = false;
    }).catch(() => undefined);
  };

  const takePlace = (): Promise<void> =>
    inTurn(async () => {
      if (concurrency === 0 || hasPlace) return;
      isPlaced = false;
      for (let pause: number = TIMING.placeAgain; (await comeBack({ userId, holdId, concurrency })) > 0;) {
        await condition(() => isPlaced, pause);
        isPlaced = false;
        pause = Math.min(2 * pause, TIMING.placeAgainLongest);
      }
      hasPlace = true;
    });

  /** Waits until the row has a decision, or until the deadline. */
  const decision = async (step: PlanStep, label: string | undefined, until: number): Promise<ApprovalOutcome> => {
    const { onTimeout } = approvalSettings(step.literals);
    const node = { executionId, nodeId: step.id, ...(label === undefined ? {} : { label }) };
    for (;;) {
      const remainingMs = until - Date.now();
      const isHeard = heardNodes.has(step.id) || (remainingMs > 0 && (await condition(() => heardNodes.has(step.id), remainingMs)));
      heardNodes.delete(step.id);
      const decided = await takeDecision({ ...node, ...(isHeard ? {} : { late: onTimeout }) });
      if (decided) return decided;
    }
  };

  return {
    /** Total time waited so far, in milliseconds. */
    waitedMs: (): number => time.totalMs(Date.now()),
    /** Resolves when no node waits. */
    whileWaiting: async (): Promise<void> => {
      if (time.isOpen()) await condition(() => !time.isOpen());
    },
    /** @param steps number of steps under way, including steps that wait */
    underWay: (steps: number): void => {
      running = steps;
      giveWay();
    },

    /** @param isShown false if the runner can't read the value */
    await: async (step: PlanStep, label: string | undefined, value: unknown, isShown: boolean): Promise<ApprovalOutcome> => {
      const { timeoutHours, ...settings } = approvalSettings(step.literals);
      const since = Date.now();
      const deadline = since + Math.min(timeoutHours * HOUR_MS, TIMING.waiting - time.totalMs(since));
      time.begin(since);
      let decided: ApprovalOutcome;
      try {
        const { until, isDecided } = await beginWait({
          ...{ executionId, attempt, nodeId: step.id, since, until: Math.round(deadline), type: valueTypeOf(value) },
          ...settings,
          ...(label === undefined ? {} : { label }),
          ...(isShown ? { shown: { value } } : {}),
          ...(reuse?.requests.includes(step.id) ? { sources: reuse.sources } : {}),
        });
        if (isDecided) heardNodes.add(step.id);
        waiting += 1;
        giveWay();
        try {
          decided = await decision(step, label, until);
        } finally {
          waiting -= 1;
        }
      } finally {
        time.end(Date.now());
      }
      await takePlace();
      return decided;
    },
  };
};
