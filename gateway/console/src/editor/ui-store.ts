import { createStore, type StoreApi } from "zustand";
import type { Port } from "../canvas/ports";
import type { EndedRun } from "../runs/made";

/** One end of a link that is being made. */
export interface LinkStart {
  nodeId: string;
  /** Which side of the node it leaves. */
  side: "output" | "input";
  port: Port;
}

/** Where the palette stands and what becomes of the choice. */
export interface PaletteRequest {
  /** On the screen. */
  at: { x: number; y: number };
  /** On the board. */
  place: { x: number; y: number };
  from?: LinkStart;
  /** An edge that the new node is put into. */
  edgeId?: string;
  /** Typed before the choices were there, and whether Enter was pressed then. */
  typed?: string;
  isEntered?: boolean;
}

export type Panel = "node" | "run" | "problems";
export type Overlay = "help" | "commands" | "settings" | "find" | "connect" | "api" | "app" | "versions" | "subgraph" | "sweep";

export interface EditorUi {
  panel: Panel;
  panelOpen: boolean;
  palette: PaletteRequest | undefined;
  overlay: Overlay | undefined;
  linking: LinkStart | undefined;
  /** Where on the screen the menu of the chosen nodes stands. */
  nodeMenu: { x: number; y: number } | undefined;
  /** The node that Run goes to; undefined for everything. */
  until: string | undefined;
  /** A node that was added and has to come into view. */
  reveal: string | undefined;
  /** The link that the pointer means, where several lie under it. */
  overEdge: string | undefined;
  /** Whether the library of files is open. */
  library: boolean;
  /** Who asked for a file of the library; undefined while files are put on the canvas. */
  choosing: ((file: { id: string }) => void) | undefined;
  /** What is written on the canvas itself: a node's name or its text. */
  writing: { nodeId: string; what: "title" | "text" } | undefined;
  /** Nodes that were added and not touched since: nothing is wrong with them yet. */
  fresh: ReadonlySet<string>;
  locked: boolean;
  /** Whether dragging on the canvas draws a line around nodes. */
  lasso: boolean;
  /** Inputs that were typed into the run panel, by name. */
  typed: Readonly<Record<string, unknown>>;
  /** Nodes whose results running again takes over. */
  reused: ReadonlySet<string>;
  /** The newest run that was over when the workflow was opened. */
  lastRun: EndedRun | undefined;
  /** What the run panel would let the next run cost. */
  maxCredits: number | undefined;
}

export const NONE: ReadonlySet<string> = new Set();

export const createUi = (): StoreApi<EditorUi> =>
  createStore<EditorUi>(() => ({
    panel: "node",
    panelOpen: typeof window !== "undefined" && window.innerWidth >= 900,
    palette: undefined,
    overlay: undefined,
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
    maxCredits: undefined,
  }));
