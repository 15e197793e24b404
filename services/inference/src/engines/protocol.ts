import type { EngineRequest, EngineResult } from "./engine";

/** What a model's process and its owner say to one another, over Node's message channel. */

export interface StartOptions {
  engine: string;
  /** Folders of what was fetched, by asset. */
  cacheFolders: Readonly<Record<string, string>>;
  /** The file of the weights, where they are the operator's own. */
  weightsFile?: string | undefined;
  threads: number;
}

export type ToChild = { type: "load"; options: StartOptions } | { type: "run"; request: EngineRequest };

export type FromChild =
  | { type: "ready" }
  | { type: "progress"; share: number }
  | { type: "text"; piece: string }
  | { type: "done"; result: EngineResult }
  | { type: "failed"; message: string; isInput: boolean };
