import { DomainError, invalidInputs, invalidRequest, isUnavailable, unlessNotFound, uploadFamily, type Issue } from "@nodeloom/kernel";
import type { Caller, CallerVisitor } from "../auth/caller";
import type { Services } from "../clients/services";
import type { App, Apps } from "./apps";
import { ensureBudget } from "./budget";
import { asVisitorsSee } from "./errors";
import type { Visits } from "./visits";

interface Context {
  gateway: { apps: Apps; visits: Visits; services: Pick<Services, "billing" | "executions"> };
  caller: Pick<Caller, "user">;
  executionId: string;
  /** Empty without an Idempotency-Key. */
  fingerprint: string;
  body: unknown;
  query: unknown;
}

/** Members that a visitor can send; others are reserved for the owner. */
const MEMBERS: ReadonlySet<string> = new Set(["inputs", "maxCredits"]);
const PARAMETERS: ReadonlySet<string> = new Set(["async"]);
const DATA_URL = /^data:/i;

const valuesIn = (value: unknown): [string, unknown][] =>
  typeof value === "object" && value !== null ? Object.entries(value).filter(([, each]) => each !== undefined) : [];

const unknownTo = (allowed: ReadonlySet<string>, value: unknown): Issue[] =>
  valuesIn(value)
    .filter(([name]) => !allowed.has(name))
    .map(([path]) => ({ path, message: `can't be sent by visitors of an app, only ${[...allowed].join(", ")}` }));

/** Visitors send files inside the request. Foreign addresses and ids would be read in the owner's name. */
const fileIssues = ({ schema: { fields } }: App, inputs: unknown): Issue[] => {
  // Names may be composed or decomposed; planning accepts both.
  const files = new Set(fields.filter((field) => uploadFamily(field) !== undefined).map(({ name }) => name.normalize()));
  const isData = (value: unknown): boolean => value === null || (typeof value === "string" && DATA_URL.test(value));
  return valuesIn(inputs)
    .filter(([name, value]) => files.has(name.normalize()) && !(Array.isArray(value) ? value.every(isData) : isData(value)))
    .map(([name]) => ({ path: `inputs.${name}`, message: "must be a data URL: visitors of an app send files with the run" }));
};

const checkAsked = (app: App, { body, query }: Context): void => {
  const unknown = [...unknownTo(MEMBERS, body), ...unknownTo(PARAMETERS, query)];
  if (unknown.length > 0) throw invalidRequest(unknown);
  const files = fileIssues(app, (body as { inputs?: unknown }).inputs);
  if (files.length > 0) throw invalidInputs(files);
};

/** True if a request repeats an Idempotency-Key that has started its run. */
const isRepeated = async ({ gateway, caller, executionId, fingerprint }: Context): Promise<boolean> => {
  if (fingerprint === "") return false;
  const existing = await unlessNotFound(gateway.services.executions.getExecution({ executionId, userId: caller.user.id }));
  return existing?.execution !== undefined;
};

/** A run that didn't start for lack of a place or service doesn't count as a visit. */
const hasNotBegun = (error: unknown): boolean =>
  error instanceof DomainError &&
  (error.reason === "CONCURRENCY_LIMIT_EXCEEDED" || (isUnavailable(error) && error.metadata.outcome === undefined));

/**
 * Runs an app for a visitor within the allowed members, the daily runs per visitor, and the app's budget.
 * @param start starts the run
 */
export const runApp = async <R>(context: Context, { slug, id }: CallerVisitor, start: () => Promise<R>): Promise<R> => {
  const { apps, visits, services } = context.gateway;
  const app = await apps.find(slug);
  checkAsked(app, context);
  try {
    const repeated = await isRepeated(context);
    if (!repeated) {
      await ensureBudget(services.billing, app, context.caller.user.plan.caps.budgets);
      await visits.count(app, id);
    }
    return await start().catch(async (error: unknown) => {
      if (!repeated && hasNotBegun(error)) await visits.uncount(app, id);
      throw error;
    });
  } catch (error) {
    throw asVisitorsSee(error);
  }
};
