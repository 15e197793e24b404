import { LIMITS } from "../../limits";
import { millicreditsFor } from "../../credits/money";
import { nearestName } from "../../text/nearest-name";
import { FILE_TOKENS_KEYWORD, PRICED_INPUTS, propertySchema, worstCaseMicroUsd, type JsonSchema } from "../prices/price";
import { distinct, finding, findingInWords, type Finding } from "../../issues";
import { isRecord } from "../types";
import { member, placeholdersIn } from "../values/value";
import type { ModelTerms } from "./planner";
import { mayCarry, type PlanStep } from "./plan-types";

/** Checks and prices a model's calls from the inputs that are known. */

/** The parts of a step that depend on the called model. */
export type CallInputs = Pick<PlanStep, "literals" | "sources" | "inputNames" | "textPorts">;

/** Upper bound of tokens per file, unless the model's schema sets `x-tokens` on the input. */
const FILE_TOKENS = 2_000;
const MESSAGE_OVERHEAD_TOKENS = 64;

/** Schema of one file. For inputs that accept several files, it is the schema of their items. */
const fileSchema = (property: JsonSchema | undefined): JsonSchema | undefined =>
  property?.type === "array" && isRecord(property.items) ? property.items : property;

export const isFileInput = (schema: JsonSchema, name: string): boolean => fileSchema(propertySchema(schema, name))?.format === "media";

/** A model's file inputs. They count as `fileTokens`; the length of their URLs doesn't matter. */
export const fileInputs = (schema: JsonSchema, step: CallInputs): string[] => {
  const quoted = new Set(placeholdersIn(step.literals));
  return step.inputNames.filter((name) => isFileInput(schema, name) && !quoted.has(name));
};

/** Maximum files of an input in one call. */
const mostFiles = (property: JsonSchema | undefined, step: CallInputs, name: string): number => {
  const literal = member(step.literals, name);
  const isFlowing = mayCarry(member(step.sources, name));
  if (literal === undefined && !isFlowing) return 0;
  if (property?.type !== "array") return 1;
  if (!isFlowing && Array.isArray(literal)) return literal.length;
  return typeof property.maxItems === "number" ? property.maxItems : LIMITS.fanOutItems;
};

const fileTokens = (schema: JsonSchema, step: CallInputs): number =>
  fileInputs(schema, step)
    .map((name) => {
      const property = propertySchema(schema, name);
      return mostFiles(property, step, name) * Number(fileSchema(property)?.[FILE_TOKENS_KEYWORD] ?? FILE_TOKENS);
    })
    .reduce((sum, tokens) => sum + tokens, 0);

const requiredNames = (schema: JsonSchema): string[] => (Array.isArray(schema.required) ? (schema.required as string[]) : []);

/** Inputs that are unknown until the step runs. Texts with unknown placeholders are included. */
export const openInputs = (step: CallInputs, unknown: ReadonlySet<string>): Set<string> =>
  new Set([
    ...unknown,
    ...step.textPorts.filter((name) => placeholdersIn(member(step.literals, name)).some((placeholder) => unknown.has(placeholder))),
  ]);

/** Problems of a call's known inputs. @param open inputs that only the run knows */
export const callProblems = (
  step: CallInputs,
  terms: ModelTerms,
  calls: readonly Record<string, unknown>[],
  open: ReadonlySet<string>,
): Finding[] => {
  if (calls.length === 0)
    // An empty list makes no calls, but required inputs without a source are still reported.
    return requiredNames(terms.inputSchema)
      .filter((name) => member(step.literals, name) === undefined && member(step.sources, name) === undefined)
      .map((name) => finding("REQUIRED", { name }));
  // A rule across inputs has no path. It can be checked only if all of them are known.
  const isOpen = (path: string): boolean => (path === "" ? open.size > 0 : open.has(path.split(".")[0]!));
  const problems = calls.flatMap((inputs) => terms.validate(inputs)).filter(({ path }) => !isOpen(path));
  const names = step.inputNames.filter((name) => member(step.literals, name) === undefined);
  const meantBy = (path: string): string | undefined =>
    member(step.literals, path) !== undefined && !step.inputNames.includes(path) ? nearestName(path, names) : undefined;
  const findings = problems.map(({ path, message, code }) => {
    if (code === "REQUIRED") return finding("REQUIRED", { name: path, meant: meantBy(path) });
    if (path === "") return findingInWords("INPUT_INVALID", message);
    return findingInWords("INPUT_INVALID", `${path}: ${message}`, path);
  });
  return distinct(findings);
};

export interface KnownCalls {
  terms: ModelTerms;
  /** Possible inputs of the calls. */
  candidates: readonly Record<string, unknown>[];
  /** Inputs that depend on steps that run later. */
  unknown: ReadonlySet<string>;
  /** Upper bound on one call's price with additional input tokens, in milli-credits. */
  costWith(moreTokens: number): number;
}

/** @param inputTokens upper bound on one call's input tokens */
export const knownCalls = (
  step: CallInputs,
  { terms, candidates, unknown, inputTokens }: Pick<KnownCalls, "terms" | "candidates" | "unknown"> & { inputTokens: number },
  markupPermille: number,
): KnownCalls => {
  const { price, inputSchema: schema } = terms;
  const open = openInputs(step, unknown);
  const tokens = inputTokens + MESSAGE_OVERHEAD_TOKENS + fileTokens(schema, step);
  return {
    ...{ terms, candidates, unknown },
    costWith: (more) => {
      const worst = candidates.map((inputs) => worstCaseMicroUsd({ price, schema, unknown: open, inputs, inputTokens: tokens + more }));
      return millicreditsFor(Math.max(0, ...worst), markupPermille);
    },
  };
};

const answerTokens = (schema: JsonSchema, inputs: Readonly<Record<string, unknown>>, unknown: ReadonlySet<string>): number => {
  const property = propertySchema(schema, PRICED_INPUTS.tokens);
  const tokenLimit = unknown.has(PRICED_INPUTS.tokens) ? property?.maximum : (inputs[PRICED_INPUTS.tokens] ?? property?.default);
  return typeof tokenLimit === "number" ? tokenLimit : LIMITS.textValueBytes;
};

/** Upper bound on one answer's tokens. */
export const textTokens = ({ terms, candidates, unknown }: KnownCalls): number =>
  Math.max(0, ...candidates.map((inputs) => answerTokens(terms.inputSchema, inputs, unknown)));
