import type { Model } from "@nodeloom/client";
import { createStore, type StoreApi } from "zustand/vanilla";
import type { Comparison } from "../../document/compare";
import type { OpenDocument } from "../../document/document";
import { edgesText, nodesOf, nodesText, type DocGraph } from "../../document/graph";
import { ASSISTANT } from "../../messages/editor/assistant";
import { ASSISTANT_PROMPT } from "../../messages/editor/assistant-prompt";
import { credits } from "../../ui/format";
import { applyOperations, isNewest, type Change } from "./edit";
import { runRequest, type Bounds, type Ending, type ModelAnswer, type Turn } from "./loop";
import { createPurse, type Purse } from "./purse";
import type { Question } from "./question";
import { assistantTools, type Check, type McpTools, type ToolOptions } from "./tools";

/** A conversation with the assistant about one open document. It lives in the page and is stored nowhere. */

export type Entry =
  | { kind: "request" | "text"; text: string }
  | { kind: "change"; change: Change; check: Check | undefined }
  | { kind: "call"; tool: string; isError: boolean }
  | { kind: "run"; nodeId: string }
  | { kind: "end"; ending: Exclude<Ending, { kind: "answered" }> };

export interface AssistantState {
  entries: readonly Entry[];
  isWorking: boolean;
  /** Limit of the conversation in credits; undefined while its field is empty, which counts as 0. */
  ceiling: number | undefined;
  spent: number;
  allowsRuns: boolean;
  /** Name of the chosen chat model; undefined for the first one. */
  modelName: string | undefined;
  /** Text of the next request. */
  text: string;
}

export interface AssistantOptions extends Pick<ToolOptions, "mcp" | "endOf"> {
  slug: string;
  document: OpenDocument;
  mcp: McpTools;
  ask(question: Question, purse: Purse, signal: AbortSignal): Promise<ModelAnswer>;
  /** Called after each change, for the canvas. */
  onChange?(change: Change): void;
  onRun?(executionId: string): void;
  bounds?: Bounds;
}

export interface Assistant {
  store: StoreApi<AssistantState>;
  /** Carries out a request. Does nothing while another one is carried out. */
  send(text: string, model: Model): Promise<void>;
  cancel(): void;
  /** Takes back a change if it is the newest step of the document. @returns false if it isn't */
  undo(change: Change): boolean;
  /** Forgets the conversation and what it has spent. */
  reset(): void;
}

export const DEFAULT_CEILING = 10;
export const MAX_REQUEST_CHARS = 8_000;
/** A larger graph isn't sent with the request. */
const MAX_GRAPH_CHARS = 60_000;
/** Earlier requests and answers that the model sees. */
const MAX_HISTORY_TURNS = 20;
/** The oldest entries are dropped first. */
const MAX_ENTRIES = 400;

const EMPTY = { entries: [], isWorking: false, spent: 0 };

const graphText = (graph: DocGraph): string => {
  const text = `{"nodes":${nodesText(graph)},"edges":${edgesText(graph)}}`;
  if (text.length <= MAX_GRAPH_CHARS) return text;
  const names = nodesOf(graph).map(({ id, type }) => `${id} (${type})`);
  return ASSISTANT_PROMPT.largeGraph(names.join(", ").slice(0, MAX_GRAPH_CHARS));
};

const labelOf = ({ nodes, links }: Comparison): string => ASSISTANT.label(nodes.length + links.length);

/** What the model remembers of a request that ended without an answer. */
const wordsOf = (ending: Ending): string => {
  if (ending.kind === "answered") return ending.text;
  return "message" in ending ? ending.message : ASSISTANT.ended[ending.kind];
};

export const createAssistant = (options: AssistantOptions): Assistant => {
  const { slug, document, mcp, ask, endOf, onChange, onRun, bounds } = options;
  const store = createStore<AssistantState>(() => ({
    ...EMPTY,
    ceiling: DEFAULT_CEILING,
    allowsRuns: false,
    modelName: undefined,
    text: "",
  }));
  const { getState, setState } = store;
  let history: readonly Turn[] = [];
  let cancelling = new AbortController();

  const add = (entry: Entry): void => setState(({ entries }) => ({ entries: [...entries, entry].slice(-MAX_ENTRIES) }));
  const purse = createPurse({
    ceiling: () => getState().ceiling ?? 0,
    spent: () => getState().spent,
    spend: (cost) => setState(({ spent }) => ({ spent: spent + cost })),
  });

  const showChange = (change: Change, check: Check | undefined): void => {
    const { entries } = getState();
    const index = entries.findIndex((entry) => entry.kind === "change" && entry.change.key === change.key);
    if (index >= 0) return setState({ entries: entries.with(index, { kind: "change", change, check }) });
    add({ kind: "change", change, check });
    onChange?.(change);
  };

  const carryOut = async (text: string, model: Model, signal: AbortSignal): Promise<Ending> => {
    const { allowsRuns } = getState();
    const heads = await mcp.list(signal);
    const tools = assistantTools(heads, {
      ...{ mcp, purse, allowsRuns, endOf, onChange: showChange },
      draft: {
        slug,
        graph: () => document.store.getState().graph,
        apply: (operations, texts) => applyOperations(document, operations, texts, labelOf),
        save: () => document.flush(),
      },
      onRun: (executionId, nodeId) => {
        add({ kind: "run", nodeId });
        onRun?.(executionId);
      },
    });
    const prompt = ASSISTANT_PROMPT.request(text, graphText(document.store.getState().graph));
    return runRequest({
      tools,
      signal,
      ...(bounds ? { bounds } : {}),
      ask: (steps, stop) => {
        const system = ASSISTANT_PROMPT.system(allowsRuns, credits(purse.left()));
        return ask({ model, system, prompt, history, tools, steps }, purse, stop);
      },
      onText: (said) => add({ kind: "text", text: said }),
      // Changes and runs are entries of their own.
      onCall: (tool, { isError = false }) => {
        if (isError || (tool !== "patch_workflow" && tool !== "run_node")) add({ kind: "call", tool, isError });
      },
    });
  };

  return {
    store,
    send: async (sentText, model) => {
      const text = sentText.trim().slice(0, MAX_REQUEST_CHARS);
      if (text === "" || getState().isWorking) return;
      cancelling = new AbortController();
      const { signal } = cancelling;
      setState({ isWorking: true, text: "" });
      add({ kind: "request", text });
      const ending = await carryOut(text, model, signal).catch((error: unknown): Ending => {
        if (signal.aborted) return { kind: "cancelled" };
        return { kind: "failed", message: error instanceof Error ? error.message : String(error) };
      });
      add(ending.kind === "answered" ? { kind: "text", text: ending.text } : { kind: "end", ending });
      const turns: Turn[] = [
        { role: "user", content: text },
        { role: "assistant", content: wordsOf(ending) },
      ];
      history = [...history, ...turns].slice(-MAX_HISTORY_TURNS);
      setState({ isWorking: false });
    },
    cancel: () => cancelling.abort(),
    undo: (change) => isNewest(document, change) && document.undo() !== undefined,
    reset: () => {
      if (getState().isWorking) return;
      history = [];
      setState(EMPTY);
    },
  };
};
