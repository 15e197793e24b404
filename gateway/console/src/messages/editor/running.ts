export const NEW_SEED = {
  newSeed: "New seed",
};

export const RUN_BUTTON = {
  nothingChanged: "Nothing has changed since the last run.",
  runAllNodesAgain: "Run all nodes again",
  costsMore: (price: string) => `This run costs ${price}. Press Run again to confirm.`,
  inputsAndPrice: "Inputs and price…",
  newSeed: "New seed",
  noSeed: "No model in this workflow uses a seed.",
  run: "Run",
  free: "free",
  moreRunOptions: "More run options",
};

export const END_NOTICE = {
  completed: "Run completed",
  failed: "Run failed",
  cancelled: "Run cancelled",
  notifyMe: "Notify me when it ends",
};
