import { createStore, type StoreApi } from "zustand/vanilla";
import { sameGraph, type DocGraph } from "./graph";
import { record, redo, undo, type History } from "./history";
import { takeTheirs, type Conflict } from "./merge";
import type { Drafts, LoadedDocument, Meta, Remote } from "./remote";
import { graphTexts, isDirty, opened, pruned, withRemote, type DocumentState } from "./state";
import { createWriteQueue, WriteError, type Timers } from "./write-queue";
import { DOCUMENT } from "./messages";

export interface ChangeOptions {
  /** Changes with one key within half a second are one undo step. */
  key?: string;
  /** Selected afterwards. */
  select?: readonly string[];
}

export interface OpenDocument {
  store: StoreApi<DocumentState>;
  change(label: string, update: (graph: DocGraph) => DocGraph, options?: ChangeOptions): void;
  setMeta(changes: Partial<Meta>): void;
  select(nodes: Iterable<string>, edges?: Iterable<string>): void;
  /** @returns label of the step that was undone; undefined without one */
  undo(): string | undefined;
  redo(): string | undefined;
  /** Takes the other side's values for the given conflicts, keeps mine for the rest, and continues to save. */
  resolve(theirs: readonly Conflict[]): void;
  /** Saves now. @returns true if everything is saved */
  flush(): Promise<boolean>;
  /** Retries after a change that can help: network, visibility or sign-in. */
  retry(): void;
  /** Checks for newer revisions and publications if there are no unsaved changes. */
  refresh(): Promise<void>;
  close(): void;
}

export interface DocumentOptions {
  loaded: LoadedDocument;
  remote: Remote;
  drafts: Drafts;
  timers: Timers;
  mayWrite: () => boolean;
}

const DRAFT_DELAY_MS = 250;
const MAX_STALE_ROUNDS = 20;
/** Request body: the changed graph and settings. */
const bodyOf = ({ graph, saved, pendingMeta }: DocumentState): string => {
  const texts = sameGraph(graph, saved) ? [] : Object.entries(graphTexts(graph));
  const members = [...texts, ...Object.entries(pendingMeta).map(([name, value]) => [name, JSON.stringify(value)] as const)];
  return `{${members.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(",")}}`;
};

/** Writes the document, merging newer revisions until none is left. */
const writeDocument = async (store: StoreApi<DocumentState>, remote: Remote): Promise<void> => {
  for (let round = 0; round < MAX_STALE_ROUNDS; round += 1) {
    if (store.getState().conflicts.length > 0)
      throw new WriteError({ kind: "conflict", message: DOCUMENT.thisWorkflowWasChangedElsewhere });
    const snapshot = store.getState();
    if (!isDirty(snapshot)) return;
    const answer = await remote.save(bodyOf(snapshot), snapshot.etag);
    if (answer === "stale") {
      const theirs = await remote.load();
      store.setState(withRemote(store.getState(), theirs));
      continue;
    }
    store.setState((now) => {
      const left = Object.entries(now.pendingMeta).filter(([name, value]) => snapshot.pendingMeta[name as keyof Meta] !== value);
      return { saved: snapshot.graph, etag: answer.etag, published: answer.published, pendingMeta: Object.fromEntries(left) };
    });
    return;
  }
  throw new WriteError({ kind: "unreachable", message: DOCUMENT.othersAreSavingThisWorkflow });
};

/**
 * Stores a draft shortly after each change while the document has unsaved changes, and deletes it afterwards: an old draft would look like
 * a change.
 */
const keepDraft = (store: StoreApi<DocumentState>, drafts: Drafts, timers: Timers) => {
  let cancel: (() => void) | undefined;
  const write = async (): Promise<void> => {
    cancel = undefined;
    const state = store.getState();
    const { etag, saved, graph, pendingMeta } = state;
    if (!isDirty(state)) return drafts.clear();
    await drafts.put({ etag, base: graphTexts(saved), mine: graphTexts(graph), meta: pendingMeta, savedAt: timers.now() });
  };
  // Without storage, editing and saving still work.
  const attempt = (): void => void write().catch(() => undefined);
  return {
    touch: (): void => {
      if (isDirty(store.getState())) {
        cancel ??= timers.after(DRAFT_DELAY_MS, attempt);
        return;
      }
      cancel?.();
      attempt();
    },
    stop: (): void => cancel?.(),
  };
};

/** Opens a document, recovers drafts, and saves automatically. */
export const openDocument = async ({ loaded, remote, drafts, timers, mayWrite }: DocumentOptions): Promise<OpenDocument> => {
  const left = await drafts.take().catch(() => []);
  const store = createStore<DocumentState>(() => opened(loaded, left));
  const { getState, setState } = store;
  const draft = keepDraft(store, drafts, timers);
  const queue = createWriteQueue({
    isDirty: () => isDirty(getState()),
    write: () => writeDocument(store, remote),
    mayWrite,
    onState: (write) => setState({ write }),
    timers,
  });
  const unsubscribe = store.subscribe((now, before) => {
    if (now.graph !== before.graph || now.saved !== before.saved || now.pendingMeta !== before.pendingMeta) draft.touch();
  });
  const show = (graph: DocGraph, history: History<DocGraph>, selection = getState().selection): void => {
    setState({ graph, history, selection: pruned(selection, graph) });
    queue.touch();
  };
  const step = (move: typeof undo): string | undefined => {
    const { history, graph } = getState();
    const moved = move(history, graph);
    if (moved) show(moved.value, moved.history);
    return moved?.label;
  };
  if (isDirty(getState())) queue.touch();
  else if (left.length > 0) draft.touch();

  return {
    store,
    change: (label, update, { key, select } = {}) => {
      const { graph, history, selection } = getState();
      const next = update(graph);
      if (next === graph) return;
      const newSelection = select ? { nodes: new Set(select), edges: new Set<string>() } : selection;
      show(next, record(history, { label, before: graph, key, at: timers.now() }), newSelection);
    },
    setMeta: (changes) => {
      setState(({ meta, pendingMeta }) => ({ meta: { ...meta, ...changes }, pendingMeta: { ...pendingMeta, ...changes } }));
      queue.touch();
    },
    select: (nodes, edges = []) => setState({ selection: { nodes: new Set(nodes), edges: new Set(edges) } }),
    undo: () => step(undo),
    redo: () => step(redo),
    resolve: (theirs) => {
      const { graph, history } = getState();
      setState({ conflicts: [] });
      if (theirs.length > 0)
        show(
          takeTheirs(graph, theirs),
          record(history, { label: DOCUMENT.useTheOtherVersion, before: graph, key: undefined, at: timers.now() }),
        );
      queue.retry();
    },
    flush: async () => {
      await queue.flush();
      return !isDirty(getState());
    },
    retry: queue.retry,
    refresh: async () => {
      if (isDirty(getState())) return;
      const theirs = await remote.load();
      // Publishing doesn't change the draft's revision.
      setState((state) => (theirs.etag === state.etag ? { published: theirs.published } : withRemote(state, theirs)));
      if (isDirty(getState())) queue.touch();
    },
    close: () => {
      queue.close();
      unsubscribe();
      draft.stop();
    },
  };
};
