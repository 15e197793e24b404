import { isRecord } from "@nodeloom/kernel/graph";
import type { Operation } from "@nodeloom/kernel/graph-patch";
import { elements, members } from "@nodeloom/kernel/json-text";
import { ASSISTANT_ANSWERS } from "../../messages/editor/assistant-prompt";
import { edgesText, nodesText, type DocGraph } from "../../document/graph";
import { problemsOfArguments, withoutMembers } from "./arguments";
import type { Change } from "./edit";
import type { Tool, ToolAnswer } from "./loop";
import type { Purse } from "./purse";

/** MCP tools for the open document. `patch_workflow` changes the document instead of the saved draft, and `validate` checks it. */

export interface ToolHead {
  name: string;
  description: string;
  inputSchema: Readonly<Record<string, unknown>>;
}

export interface McpAnswer extends ToolAnswer {
  structured: Readonly<Record<string, unknown>>;
}

export interface McpTools {
  /** @throws Error if the endpoint doesn't answer */
  list(signal: AbortSignal): Promise<readonly ToolHead[]>;
  /** @param args arguments by name, as JSON texts. Aborting closes the connection, which cancels the call's run */
  call(name: string, args: ReadonlyMap<string, string>, signal: AbortSignal): Promise<McpAnswer>;
}

/** End of a run, with its cost in credits. */
export interface EndedRun {
  status: string;
  cost: number;
  /** State, outputs and error of the node that was run. */
  node: unknown;
  error: unknown;
}

export interface Draft {
  slug: string;
  graph(): DocGraph;
  /** Applies operations as one step of undo. @returns undefined if they change nothing. @throws DomainError */
  apply(operations: readonly Operation[], texts: readonly string[]): Change | undefined;
  /** Saves the document. @returns false if it can't be saved */
  save(): Promise<boolean>;
}

/** Price and problems of the document after a change. */
export interface Check {
  valid: boolean;
  issues: number;
  estimatedCreditCost: number | null;
}

export interface ToolOptions {
  mcp: McpTools;
  draft: Draft;
  purse: Purse;
  /** False: `run_node` isn't offered. */
  allowsRuns: boolean;
  onChange(change: Change, check: Check | undefined): void;
  /** Called when a run has started. */
  onRun(executionId: string, nodeId: string): void;
  /** Waits for the end of a run, which is cancelled if the signal aborts. @throws Error if the end isn't known */
  endOf(executionId: string, nodeId: string, signal: AbortSignal): Promise<EndedRun>;
}

/** Tools that only read, passed on as they are. */
const READING: ReadonlySet<string> = new Set(["list_node_kinds", "list_models", "search_templates", "get_workflow"]);
/** Arguments that the assistant sets itself. */
const OWN_ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  validate: ["slug", "nodes", "edges"],
  patch_workflow: ["slug", "revision", "dryRun", "inputs"],
  run_node: ["slug", "reuse", "metadata", "waitSeconds"],
};
const RUN_LIMIT = "maxCredits";

type Texts = ReadonlyMap<string, string>;
type Call = (args: Texts, signal: AbortSignal) => Promise<ToolAnswer>;

const checkOf = ({ isError, structured: { valid, issues, estimatedCreditCost } }: McpAnswer): Check | undefined =>
  isError === true || typeof valid !== "boolean"
    ? undefined
    : {
        valid,
        issues: Array.isArray(issues) ? issues.length : 0,
        estimatedCreditCost: typeof estimatedCreditCost === "number" ? estimatedCreditCost : null,
      };

const validate =
  ({ mcp, draft }: ToolOptions) =>
  (args: Texts, signal: AbortSignal): Promise<McpAnswer> => {
    const graph = draft.graph();
    const own: [string, string][] = [
      ["slug", JSON.stringify(draft.slug)],
      ["nodes", nodesText(graph)],
      ["edges", edgesText(graph)],
    ];
    return mcp.call("validate", new Map([...args, ...own]), signal);
  };

const patch =
  (options: ToolOptions): Call =>
  async (args, signal) => {
    const texts = elements(args.get("operations") ?? "[]");
    const operations = texts.map((text) => JSON.parse(text) as Operation);
    const change = options.draft.apply(operations, texts);
    if (!change) return { text: ASSISTANT_ANSWERS.nothingChanged };
    options.onChange(change, undefined);
    try {
      const answer = await validate(options)(new Map(), signal);
      options.onChange(change, checkOf(answer));
      return { text: ASSISTANT_ANSWERS.applied(operations.length, answer.text) };
    } catch (error) {
      if (signal.aborted) throw error;
      // The change is in the document, whatever happens to its check.
      return { text: ASSISTANT_ANSWERS.appliedUnchecked(operations.length) };
    }
  };

/** Starts a run of a node within the ceiling and waits for its end. */
const runNode =
  ({ mcp, draft, purse, onRun, endOf }: ToolOptions): Call =>
  async (args, signal) => {
    if (!(await draft.save())) return { text: ASSISTANT_ANSWERS.notSaved, isError: true };
    const requested = Number(args.get(RUN_LIMIT) ?? Infinity);
    const most = Math.min(requested, purse.left());
    const nodeId = String(JSON.parse(args.get("node") ?? '""'));
    const settle = purse.reserve(most);
    const own: [string, string][] = [
      ["slug", JSON.stringify(draft.slug)],
      [RUN_LIMIT, JSON.stringify(most)],
      ["waitSeconds", "0"],
    ];
    try {
      const started = await mcp.call("run_node", new Map([...args, ...own]), signal);
      const { executionId } = started.structured;
      if (typeof executionId !== "string") {
        // Rejected before it started.
        settle(0);
        return started;
      }
      onRun(executionId, nodeId);
      const { cost, ...end } = await endOf(executionId, nodeId, signal);
      // A run that waits for a person can still cost all that was reserved.
      settle(end.status === "processing" ? undefined : cost);
      return { text: JSON.stringify({ executionId, cost, ...end }), isError: end.status === "failed" || end.status === "cancelled" };
    } finally {
      settle();
    }
  };

const callOf = (name: string, options: ToolOptions): Call | undefined => {
  if (name === "patch_workflow") return patch(options);
  if (name === "validate") return validate(options);
  if (name === "run_node") return options.allowsRuns ? runNode(options) : undefined;
  if (!READING.has(name)) return undefined;
  return (args, signal) => options.mcp.call(name, args, signal);
};

const toolOf = ({ name, description, inputSchema }: ToolHead, options: ToolOptions): Tool[] => {
  const call = callOf(name, options);
  if (!call || !isRecord(inputSchema)) return [];
  const parameters = withoutMembers(inputSchema, OWN_ARGUMENTS[name] ?? []);
  return [
    {
      ...{ name, description, parameters },
      problemsOf: (value) => problemsOfArguments(parameters, value),
      call: (argumentsText, signal) => call(members(argumentsText), signal),
    },
  ];
};

/** The tools of the assistant. @param heads the MCP tools of the installation */
export const assistantTools = (heads: readonly ToolHead[], options: ToolOptions): Tool[] => heads.flatMap((head) => toolOf(head, options));
