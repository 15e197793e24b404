import type { Editor } from "../context";

/** Effects of commands besides changes to the graph. */
export interface Stage {
  /** Fits nodes, or all of them, into the view. @param atOnce without animation */
  fit(nodeIds?: readonly string[], atOnce?: boolean): void;
  zoom(to: "in" | "out" | "whole"): void;
  /** Centre of the view in canvas coordinates. */
  middle(): { x: number; y: number };
  /** Opens the palette in the centre of the canvas. */
  openPalette(): void;
  /** Opens the palette beside the selected node, for its first output. */
  addAfter(): void;
  paste(): void;
  /** Pastes the browser's clipboard data. */
  pasteFrom(data: DataTransfer): void;
  /** Opens the run panel. A second call starts the run. */
  run(): void;
  /** Focuses the settings of the selected node. */
  settings(): void;
  /** Opens the assistant and focuses its request. */
  assist(): void;
  open(slug: string): void;
  /** Opens a page about this workflow. */
  leave(page: "triggers" | "batch"): void;
}

export interface Command {
  id: string;
  title: string;
  group: "edit" | "select" | "arrange" | "view" | "run";
  /** Shortcuts such as `Mod+Z`. The first is shown. */
  keys: readonly string[];
  /** True if the command changes the workflow. */
  edits: boolean;
  run(editor: Editor, stage: Stage): void;
}
