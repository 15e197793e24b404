import type { ApiKey, Budget, BudgetSettings } from "@nodeloom/client";
import { queryOptions } from "@tanstack/react-query";
import { request } from "../../api/client";
import { keyName } from "../../api/key-name";
import { COMMON } from "../../messages/common";
import { BUDGETS } from "../../messages/parts";

export const budgetsQuery = queryOptions({
  queryKey: ["budgets"],
  queryFn: async ({ signal }) => (await request("listBudgets", { signal })).body,
});

/** Metadata name of runs by an app's visitors, and of the app's budget. */
export const APP_NAME = "nodeloom.app";

export type BudgetScope =
  | { scope: "key"; keyId: string }
  | { scope: "workflow"; workflowSlug: string }
  | { scope: "metadata"; metadata: { name: string; value: string } };

const EACH_VALUE = "*";

/** True for the budget that applies to every value of a metadata member without a budget of its own. */
export const isDefault = (scope: BudgetScope): boolean => scope.scope === "metadata" && scope.metadata.value === EACH_VALUE;

export const scopeOf = ({ scope, keyId = "", workflowSlug = "", metadata = { name: "", value: "" } }: Budget): BudgetScope => {
  switch (scope) {
    case "key":
      return { scope, keyId };
    case "workflow":
      return { scope, workflowSlug };
    case "metadata":
      return { scope, metadata };
  }
};

export const isBudgetOf =
  (wantedScope: BudgetScope) =>
  (budget: Budget): boolean =>
    JSON.stringify(scopeOf(budget)) === JSON.stringify(wantedScope);

export const saveBudget = (scope: BudgetScope, settings: BudgetSettings): Promise<unknown> => {
  switch (scope.scope) {
    case "key":
      return request("setKeyBudget", { params: { id: scope.keyId }, body: settings });
    case "workflow":
      return request("setWorkflowBudget", { params: { slug: scope.workflowSlug }, body: settings });
    case "metadata":
      return request("setMetadataBudget", { body: { ...settings, metadata: scope.metadata } });
  }
};

export const removeBudget = (id: string): Promise<unknown> => request("deleteBudget", { params: { id } });

/**
 * @param keys keys of the account, for their names
 * @param nameOf returns a workflow's name by its slug
 */
export const scopeWords = (
  scope: BudgetScope,
  keys: readonly ApiKey[] = [],
  nameOf: (slug: string) => string = (slug) => slug,
): { kind: string; name: string } => {
  switch (scope.scope) {
    case "key":
      return { kind: COMMON.apiKey, name: keyName(keys, scope.keyId, BUDGETS.deletedKey) };
    case "workflow":
      return { kind: COMMON.workflow, name: nameOf(scope.workflowSlug) };
    case "metadata":
      if (scope.metadata.name === APP_NAME) return { kind: BUDGETS.app, name: scope.metadata.value };
      if (isDefault(scope)) return { kind: BUDGETS.perValue, name: BUDGETS.each(scope.metadata.name) };
      return { kind: COMMON.metadata, name: `${scope.metadata.name} = ${scope.metadata.value}` };
  }
};

export const WINDOWS = [
  ["day", BUDGETS.perDay],
  ["week", BUDGETS.perWeek],
  ["month", BUDGETS.perMonth],
  ["total", BUDGETS.inTotal],
] as const satisfies readonly (readonly [Budget["window"], string])[];

export const windowWords = (window: Budget["window"]): string => WINDOWS.find(([name]) => name === window)![1];

const PERCENT = 100;
const MOST_SHARES = 5;

/** Text such as "50, 80". */
export const sharesText = (shares: readonly number[]): string => shares.map((share) => Math.round(share * PERCENT * 10) / 10).join(", ");

/** Parses percentages; undefined if malformed. */
export const readShares = (text: string): number[] | undefined => {
  const shares = text
    .split(/[\s,;%]+/)
    .filter((part) => part !== "")
    .map((part) => Number(part) / PERCENT);
  return shares.length <= MOST_SHARES && shares.every((share) => share >= 0.001 && share <= 1) ? shares : undefined;
};
