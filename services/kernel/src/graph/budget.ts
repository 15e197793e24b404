import { GRAPH_BOUNDS, valueBytes } from "./bounds";

/** A node's inputs or value can't be made. The message becomes the node's error. */
export class BindError extends Error {
  override readonly name = "BindError";
  /** @param publicMessage in place of a message that quotes a value, for those who can't read the graph */
  constructor(
    message: string,
    readonly publicMessage?: string,
  ) {
    super(message);
  }
}

/** What was used up of a run's bounds. Plans carry it, as JSON, to the run. */
export interface BudgetUse {
  valueBytes: number;
  calls: number;
  work: number;
}

/** A run would pass one of its bounds, which the message names. It ends the plan or the run. */
export class BoundPassed extends BindError {}

const MEGABYTE = 1_048_576;
const inMegabytes = (bytes: number): string => `${bytes / MEGABYTE} MB`;

const MESSAGES: Readonly<Record<keyof BudgetUse, string>> = {
  valueBytes: `the values that this run makes are more than ${inMegabytes(GRAPH_BOUNDS.valueBytes)}`,
  calls: `the run makes more than ${GRAPH_BOUNDS.calls.toLocaleString("en")} calls`,
  work: `filling its templates, lists and expressions takes more than ${GRAPH_BOUNDS.work.toLocaleString("en")} steps`,
};

/** Counts what one run makes, in planning and in the workflow. */
export interface RunBudget {
  readonly used: Readonly<BudgetUse>;
  /** Counts a value that was made, and returns it. @throws BoundPassed */
  value<T>(value: T): T;
  /** Counts bytes of values before they are made. @throws BoundPassed */
  bytes(count: number): void;
  /** Counts calls of providers and HTTP requests. @throws BoundPassed */
  calls(count: number): void;
  /**
   * Counts filled placeholders, characters read (by `charactersOfWork`), elements copied (by `elementsOfWork`), and
   * evaluated expressions. @throws BoundPassed
   */
  work(count: number): void;
}

/** Copying this many elements of a list is one step of work. */
const ELEMENTS_PER_STEP = 16;
export const elementsOfWork = (count: number): number => Math.ceil(count / ELEMENTS_PER_STEP);

/** Reading this many characters of a text is one step of work. */
const CHARACTERS_PER_STEP = 512;
export const charactersOfWork = (length: number): number => Math.ceil(length / CHARACTERS_PER_STEP);

/**
 * A budget of which something may be used already.
 * @param bounds what may be used at most; by default a run's bounds
 */
export const createBudget = (used: Partial<BudgetUse> = {}, bounds: Readonly<BudgetUse> = GRAPH_BOUNDS): RunBudget => {
  const sum: BudgetUse = { valueBytes: 0, calls: 0, work: 0, ...used };
  const add = (what: keyof BudgetUse, count: number): void => {
    sum[what] += count;
    if (sum[what] > bounds[what]) throw new BoundPassed(MESSAGES[what]);
  };
  return {
    used: sum,
    value: (value) => {
      add("valueBytes", valueBytes(value, bounds.valueBytes - sum.valueBytes));
      return value;
    },
    bytes: (count) => add("valueBytes", count),
    calls: (count) => add("calls", count),
    work: (count) => add("work", count),
  };
};
