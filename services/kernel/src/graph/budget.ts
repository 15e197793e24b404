import { GRAPH_BOUNDS, valueBytes } from "./bounds";

/** Thrown if a node's inputs or value can't be computed. The message becomes the node's error. */
export class BindError extends Error {
  override readonly name = "BindError";
  /** @param publicMessage replaces the message for readers who can't see the graph; needed if the message quotes a value */
  constructor(
    message: string,
    readonly publicMessage?: string,
  ) {
    super(message);
  }
}

/** Amounts that a run has used. A plan passes them to its run as JSON. */
export interface BudgetUse {
  valueBytes: number;
  calls: number;
  work: number;
}

/** Thrown if a run exceeds one of its bounds. Ends planning or the run. */
export class BoundPassed extends BindError {}

const MEGABYTE = 1_048_576;
const inMegabytes = (bytes: number): string => `${bytes / MEGABYTE} MB`;

const MESSAGES: Readonly<Record<keyof BudgetUse, (bound: number) => string>> = {
  valueBytes: (bound) => `the values of this run exceed ${inMegabytes(bound)}`,
  calls: (bound) => `the run makes more than ${bound.toLocaleString("en")} calls`,
  work: (bound) => `filling its templates, lists and expressions takes more than ${bound.toLocaleString("en")} steps`,
};

/** Counts how much of each bound a run has used, during planning and in the workflow. */
export interface RunBudget {
  readonly used: Readonly<BudgetUse>;
  /** Counts a value and returns it. @throws BoundPassed */
  value<T>(value: T): T;
  /** Counts the bytes of values before they are created. @throws BoundPassed */
  bytes(count: number): void;
  /** Counts provider calls and HTTP requests. @throws BoundPassed */
  calls(count: number): void;
  /**
   * Counts placeholders filled, characters read (`charactersOfWork`), elements copied (`elementsOfWork`) and expressions evaluated.
   * @throws BoundPassed
   */
  work(count: number): void;
}

const ELEMENTS_PER_STEP = 16;
export const elementsOfWork = (count: number): number => Math.ceil(count / ELEMENTS_PER_STEP);

const CHARACTERS_PER_STEP = 512;
export const charactersOfWork = (length: number): number => Math.ceil(length / CHARACTERS_PER_STEP);

/**
 * @param used amounts already used
 * @param bounds defaults to the bounds of a run
 */
export const createBudget = (used: Partial<BudgetUse> = {}, bounds: Readonly<BudgetUse> = GRAPH_BOUNDS): RunBudget => {
  const sum: BudgetUse = { valueBytes: 0, calls: 0, work: 0, ...used };
  const add = (what: keyof BudgetUse, count: number): void => {
    sum[what] += count;
    if (sum[what] > bounds[what]) throw new BoundPassed(MESSAGES[what](bounds[what]));
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
