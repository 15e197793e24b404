import { createStore, type StoreApi } from "zustand";
import type { Port } from "../canvas/ports";
import type { EndedRun } from "../runs/latest-outputs";

/** One end of a link in progress. */
export interface LinkStart {
  nodeId: string;
  /** Side of the node where it starts. */
  side: "output" | "input";
  port: Port;
}

/** Position of the palette, and the use of the choice. */
export interface PaletteRequest {
  /** Position on the screen. */
  at: { x: number; y: number };
  /** Position on the canvas. */
  place: { x: number; y: number };
  from?: LinkStart;
  /** Edge to insert the new node into. */
  edgeId?: string;
  /** Text typed before the choices loaded, and whether Enter was pressed. */
  typed?: string;
  isEntered?: boolean;
}

export type Panel = "node" | "run" | "problems" | "assistant";
export type Overlay =
  | "help"
  | "commands"
  | "settings"
  | "find"
  | "connect"
  | "api"
  | "app"
  | "versions"
  | "subgraph"
  | "sweep"
  | "swap"
  | "models"
  | "touch"
  | "tests";

export interface EditorUi {
  panel: Panel;
  panelOpen: boolean;
  palette: PaletteRequest | undefined;
  overlay: Overlay | undefined;
  /** Model to try on the selected node; undefined to choose one first. */
  candidate: string | undefined;
  linking: LinkStart | undefined;
  /** Screen position of the nodes' menu. */
  nodeMenu: { x: number; y: number } | undefined;
  /** Target node of Run; undefined to run all nodes. */
  until: string | undefined;
  /** A new node to scroll into view. */
  reveal: string | undefined;
  /** Link under the pointer; the nearest of overlapping links. */
  overEdge: string | undefined;
  /** True while the library is open. */
  library: boolean;
  /** Receives a chosen library file; undefined while files are added to the canvas. */
  choosing: ((file: { id: string }) => void) | undefined;
  /** Name or text being edited on the canvas. */
  writing: { nodeId: string; what: "title" | "text" } | undefined;
  /** New nodes that the user hasn't edited. Their problems aren't shown yet. */
  fresh: ReadonlySet<string>;
  locked: boolean;
  /** True while dragging on the canvas draws a selection line. */
  lasso: boolean;
  /** Inputs typed into the run panel, by name. */
  typed: Readonly<Record<string, unknown>>;
  /** Nodes whose results a rerun reuses. */
  reused: ReadonlySet<string>;
  /** Newest ended run when the workflow was opened; null if there was none, undefined until it is loaded. */
  lastRun: EndedRun | null | undefined;
  /** Stops the assistant while it works. */
  stopAssistant: (() => void) | undefined;
  /** Cost limit of the next run. */
  maxCredits: number | undefined;
  /** Execution id of the run that becomes a test; undefined to list the tests. */
  testedRun: string | undefined;
}

export const NONE: ReadonlySet<string> = new Set();

export const createUi = (): StoreApi<EditorUi> =>
  createStore<EditorUi>(() => ({
    panel: "node",
    panelOpen: typeof window !== "undefined" && window.innerWidth >= 900,
    palette: undefined,
    overlay: undefined,
    candidate: undefined,
    linking: undefined,
    nodeMenu: undefined,
    until: undefined,
    reveal: undefined,
    overEdge: undefined,
    library: false,
    choosing: undefined,
    writing: undefined,
    fresh: new Set(),
    locked: false,
    lasso: false,
    typed: {},
    reused: NONE,
    lastRun: undefined,
    stopAssistant: undefined,
    maxCredits: undefined,
    testedRun: undefined,
  }));
