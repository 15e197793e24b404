import { plural } from "../forms";
export const AXIS_FORM = {
  valuesOf: (title: string) => `Values of ${title}`,
  numberOfSeeds: "Number of seeds",
  otherValues: "Other values",
  onePerLine: "One per line.",
  numbersHint: "Numbers, separated by commas.",
  noSecondSetting: "No second setting",
  chooseASetting: "Choose a setting",
};

export const SWEEP_CELL = {
  ratingOf: (name: string) => `Rating of ${name}`,
  of: (value: number, most: number) => `${value} of ${most}`,
  view: (name: string) => `View ${name}`,
  files: (count: number) => `${count} files`,
  noResult: "No result.",
  status: (status: string) => `Status: ${status}.`,
  cr: (creditsCost: string) => `${creditsCost} cr`,
  free: "free",
  useThis: (name: string) => `Use this: ${name}`,
  useThisVariation: "Use this",
};

export const SWEEP_DIALOG = {
  inProgress: "in progress",
  finished: "finished",
  setting: "Setting",
  free: "free",
  cr: (credits: string) => `${credits} cr`,
  previousVariations: "Previous variations",
  previous: "Previous:",
  earlier: (total: number, state: string) => `${plural(total, "variation", "variations")}, ${state}`,
  nothingToVary: (title: string) => `“${title}” has no settings to vary.`,
  intro: (title: string) =>
    `Each variation runs “${title}” and the nodes it needs, with the inputs of the Run panel. Then continue with the best one.`,
  vary: "Vary",
  and: "and",
  tooManyVariations: (count: number, most: number) => `This makes ${count} variations. You can run at most ${most} at once.`,
  runVariations: "Run variations",
  run: (total: number, price: string | undefined) => `Run ${total} · ${price}`,
  tooFewValues: "Enter at least two values.",
  variationsOf: (node: string) => `Variations of “${node}”`,
  newVariations: "New variations",
};

export const SWEEP_RESULTS = {
  useAVariation: "Use a variation",
  settingsApplied: (node: string) => `“${node}” now has these settings. Run again continues from this result.`,
  of: (completed: number, total: number) => `${completed} of ${total}`,
  failed: (failed: number) => `, ${failed} failed`,
  openBatch: "Open batch",
  resumeHint: "Resume it on its page.",
  variations: "Variations",
  variation: "Variation",
  variationsOf: (node: string) => `Variations of ${node}`,
  results: "Results",
  bestFirst: "Best first",
};

export const AXES = {
  off: "off",
  on: "on",
  notANumber: (bad: string, isWhole: boolean) => `“${bad}” isn't a ${isWhole ? "whole " : ""}number.`,
  isntBetweenAnd: (outside: number, least: number, most: number) => `${outside} isn't between ${least} and ${most}.`,
};
