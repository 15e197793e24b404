import { plural, number } from "./forms";

export const BATCH_PAGE = {
  notFound: "Batch not found",
  notFoundHint: "It was deleted, or belongs to another account.",
  goToBatches: "Go to batches",
  resultOfItem: (index: number) => `Result of item ${index}`,
  theBatchContinues: "The batch continues.",
  creditLimitReached: "The batch reached its credit limit",
  budgetUsedUp: "A budget is used up",
  paused: "The batch is paused",
  waiting: "The batch continues when the provider is back",
  newLimitInCredits: "New limit in credits",
  moreThan: (maxCredits: number) => `More than ${maxCredits}`,
  resume: "Resume",
  retryHint: "A new batch runs the failed items again.",
  runFailedAgain: (failed: number) => `Run ${plural(failed, "failed item", "failed items")} again`,
  openWorkflow: "Open workflow",
  batch: "Batch",
  batchOf: (total: number) => `Batch of ${plural(total, "item", "items")}`,
  of: (completed: number, total: number) => `${completed} of ${total}`,
  inProgress: "In progress",
  cost: "Cost",
  costOfLimit: (creditsCost: string, maxCredits: number) => `${creditsCost} of ${maxCredits}`,
  newestItems: "Newest items",
  nextItems: "Next items",
};

export const BATCH_STATUS = {
  paused: "Paused",
  stoppedByAnError: "Stopped by an error",
  waiting: "Waiting",
  notStarted: "Not started",
  finishedItems: "Finished items",
};

export const BATCHES_PAGE = {
  upToNode: (until: string) => `up to node ${until}`,
  of: (completed: number, total: number) => `${completed} of ${total}`,
  intro: "Run a workflow once per row of a table, with one price and one budget.",
  newBatch: "New batch",
  noBatchesYet: "No batches yet",
  emptyHint: "Choose a workflow, add a CSV file, and run every row.",
};

export const NEW_BATCH = {
  chooseFile: "Drop or choose a CSV file",
  tableSize: (rows: number, columns: number) => `${plural(rows, "row", "rows")}, ${plural(columns, "column", "columns")}`,
  fileHint: "The first line names the columns. Up to 10 MB.",
  example: (value: string) => `Example: ${value}`,
  chooseAColumn: "Choose a column",
  useTheDefault: "Use the default",
  line: (index: number) => `Line ${index}: `,
  rowsInvalid: "The batch didn't start: some rows are invalid.",
  notStarted: "The batch didn't start",
  andMore: (count: number) => `and ${number(count)} more`,
  price: (total: number, price: string, isExact: boolean) => `${plural(total, "item", "items")}: ${isExact ? "" : "about "}${price}`,
  priceExact: "The price is exact.",
  priceAtMost: (maxCreditCost: string) =>
    `At most ${maxCreditCost}, because lists can be longer than expected. Set a limit to pause the batch there.`,
  newBatch: "New batch",
  creditLimit: "Credit limit",
  creditLimitHint: "The batch pauses when it reaches this limit. Leave empty for no limit.",
  showPrice: "Show price",
  runItems: (count: number) => `Run ${plural(count, "item", "items")}`,
  run: "Run",
};

export const TABLE_FILE = {
  tooLarge: (mb: number) => `The file has more than ${mb} MB.`,
  noRows: "The file has no rows below its header.",
  tooManyRows: (most: number) => `The file has more than ${number(most)} rows. Split it into several batches.`,
  problem: (problem: string) => `The file ${problem}.`,
  notCsv: (problem: string) => `The file isn't valid CSV: ${problem}`,
  row: (row: number, name: string, message: string) => `Row ${row}: ${name} ${message}.`,
};
