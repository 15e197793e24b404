export const DRILL = {
  sentence:
    "writes eight days of runs with files, webhooks and ledger rows, the first one with 100,000, and moves the clock past them: retention must keep up",
  minutes: 40,
};
