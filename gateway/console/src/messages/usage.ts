import { plural } from "./forms";

export const GROUPED = {
  directModelCalls: "Direct model calls",
  spendingByGroup: "Spending by group",
  groupBy: "Group by",
  by: (words: string) => `by ${words}`,
  metadataName: "Metadata name",
  period: "Period",
  csv: "CSV",
  noSpending: "No spending in this period.",
  creditsByGroup: "Credits by group",
  groups: (count: number) => `${plural(count, "group", "groups")}. The table lists all of them.`,
};

export const SUMMARY = {
  total: (cost: string, count: number) => `${cost} for ${plural(count, "run", "runs")}, from the console and the API`,
  creditsByDay: "Credits by day",
  creditsByModel: "Credits by model",
};

export const USAGE_PAGE = {
  subtitle: "Your credits by day and model, from the console and the API. Single API calls are listed below.",
  csv: "CSV",
  apiCalls: "API calls",
  allModels: "All models",
  noApiCallsYet: "No API calls yet",
  noApiCallsHint:
    "Create an API key and call a workflow to see its calls here. Runs from the console are counted above and listed under Runs.",
  noMoreCalls: "No more calls",
  newestCalls: "Newest calls",
  calls: "Calls",
  of: (whole: string, whole2: string, total: string) => `${whole}–${whole2} of ${total}`,
  newer: "Newer",
};
