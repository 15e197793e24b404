import type { EngineRequest, EngineResult, Gpu } from "./engine";

/** Messages between a model's process and its parent, sent over Node.js's message channel. */

export interface StartOptions {
  engine: string;
  /** Folders of downloaded assets, by name. */
  cacheFolders: Readonly<Record<string, string>>;
  /** The operator's weights file, if the model uses one. */
  weightsFile?: string | undefined;
  threads: number;
  gpu?: Gpu | undefined;
}

export type ToChild = { type: "load"; options: StartOptions } | { type: "run"; request: EngineRequest };

export type FromChild =
  | { type: "ready" }
  | { type: "progress"; share: number }
  | { type: "text"; piece: string }
  | { type: "done"; result: EngineResult }
  | { type: "failed"; message: string; isInput: boolean };
