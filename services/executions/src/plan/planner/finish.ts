import {
  type BudgetUse,
  type DataFile,
  DomainError,
  type Graph,
  type GraphIssue,
  invalidInputs,
  isRecord,
  type Issue,
  labelOf,
  type ModelTerms,
  nodeName,
  type PlanResult,
  type PlanRequest,
  planRun,
} from "@nodeloom/kernel";
import { parseExact } from "@nodeloom/kernel/json-text";
import type { AddressRules } from "@nodeloom/platform";
import { inputTerms } from "../model-catalog";
import { addressIssues } from "./file-inputs";
import type { Missing, PlanAnswer, PlanTask, TaskModel, WantedFile } from "./protocol";

/** Last part of planning for workflows and models: returns the missing values, or the plan. */

export interface PlanRules {
  /** Rules for addresses that users enter; undefined allows all addresses. */
  addresses?: AddressRules | undefined;
  /** Address prefix of the platform's own storage. */
  storage?: string;
  /** Budget of one plan. The default is the budget of a run. */
  bounds?: Readonly<BudgetUse> | undefined;
}

export const termsOf = ({ inputSchemaJson, ...rest }: TaskModel): ModelTerms => ({ ...rest, ...inputTerms(inputSchemaJson) });

export const notLookedUp = ({ lookedUp }: PlanTask, ids: Iterable<string>, { isAuthors, ownerOf }: FileOwners): WantedFile[] => {
  const lookedUpIds = new Set(lookedUp);
  return [...new Set(ids)]
    .filter((id) => !lookedUpIds.has(id))
    .map((id) => {
      const ownerId = ownerOf?.(id);
      return { id, isAuthors: isAuthors(id), ...(ownerId === undefined ? {} : { ownerId }) };
    });
};

export const missing = (what: Missing): PlanAnswer => ({ answer: "missing", missing: what });

export interface FileOwners {
  isAuthors(id: string): boolean;
  /** Owner of a file whose id is in an inlined graph. */
  ownerOf?: ((id: string) => string | undefined) | undefined;
}

/** Differences between runs of workflows and of models. */
interface Run extends FileOwners {
  task: PlanTask;
  request: Omit<PlanRequest, "data" | "storage" | "markupPermille"> & { data: ReadonlyMap<string, DataFile> };
  fileInputs: string[];
  /** Receives the prices of `request.others`. */
  onPrices?: (prices: PlanResult["prices"]) => void;
  /** Error of a run that can't be planned. */
  invalid(issues: GraphIssue[]): DomainError;
}

/** Plans a run. Returns the files that are missing, or the plan and the data URLs to store. */
export const finishPlan = (
  { addresses, storage, bounds }: PlanRules,
  { task, request, fileInputs, isAuthors, ownerOf, invalid, onPrices }: Run,
): PlanAnswer => {
  const reusedOutputs = task.knownOutputs && new Map(task.knownOutputs.map(([id, ports]) => [id, new Map(ports)]));
  const knownRequest = {
    ...request,
    ...(storage === undefined ? {} : { storage }),
    ...(reusedOutputs ? { knownOutputs: reusedOutputs } : {}),
    markupPermille: task.markupPermille,
  };
  const planned = planRun(knownRequest, bounds);
  onPrices?.(planned.prices);
  if (!planned.plan) {
    const media = notLookedUp(task, planned.unknownMedia, { isAuthors, ownerOf });
    if (media.length > 0) return missing({ media });
    throw invalid(planned.issues);
  }
  const addressProblems = addresses ? addressIssues(planned.plan, request.models, addresses) : [];
  if (addressProblems.length > 0) throw invalid(addressProblems);
  const pending = [...request.data].flatMap(([url, { isPending }]) => (isPending ? [url] : []));
  const data = task.storesNothing ? [] : [...new Set([...pending, ...planned.dataUrls])];
  return data.length > 0 ? missing({ data }) : { answer: "plan", plan: planned.plan, forwardedMediaIds: [], fileInputs };
};

/** Maximum issues quoted in the message. `issues` has all of them. */
const NAMED_ISSUES = 10;

export const invalidWorkflow = (issues: GraphIssue[], { nodes }: Graph): DomainError => {
  const nameOf = (nodeId: string): string => {
    const node = nodes.find(({ id }) => id === nodeId);
    return nodeName(nodeId, node && labelOf(node));
  };
  const namedIssues = issues
    .slice(0, NAMED_ISSUES)
    .map(({ nodeId, message }) => (nodeId === null ? message : `${nameOf(nodeId)}: ${message}`));
  const rest = issues.length - namedIssues.length;
  const text = `${namedIssues.join("; ")}${rest > 0 ? `; and ${rest} more` : ""}`;
  return new DomainError("precondition", "WORKFLOW_INVALID", `the workflow can't run: ${text}`, { issues });
};

/** @throws DomainError INVALID_INPUTS if there are issues */
export const checkInputs = (issues: Issue[]): void => {
  if (issues.length > 0) throw invalidInputs(issues);
};

/** @throws DomainError INVALID_INPUTS if the inputs aren't a JSON object */
export const parseInputs = (json: string): Record<string, unknown> => {
  try {
    const inputs = parseExact(json);
    if (isRecord(inputs)) return inputs;
  } catch {
    // Malformed JSON is treated like any other value that isn't an object.
  }
  throw invalidInputs([{ path: "inputs", message: "must be an object" }]);
};
