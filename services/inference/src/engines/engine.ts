/** The interface of engines: the part of a model's process that knows its weights. */

/** Unsuitable inputs. The message is for the caller. */
export class InputError extends Error {
  override readonly name = "InputError";
}

export interface EngineRequest {
  /** Validated by the model's entry in `models.ts`. */
  inputs: Readonly<Record<string, unknown>>;
  /** Paths of input files, by input. */
  files: Readonly<Record<string, string>>;
  /** The request's own folder for results. */
  folder: string;
}

export interface Report {
  /** @param share completed work, from 0 to 1 */
  progress(share: number): void;
  /** Streams the next piece of a text. */
  text(piece: string): void;
}

export interface MadeFile {
  /** Relative to the request's folder. */
  name: string;
  contentType: string;
}

export interface EngineResult {
  files?: MadeFile[];
  text?: string;
  /** Structured form of the text, for callers that want JSON. */
  json?: Readonly<Record<string, unknown>>;
  /** The text was cut at the token limit. */
  isCut?: boolean;
  usage?: { inputTokens: number; outputTokens: number };
}

export interface Engine {
  run(request: EngineRequest, report: Report): Promise<EngineResult>;
}

export interface EngineContext {
  /** Folder of a weights asset. @throws if it isn't downloaded */
  weights(asset: string): string;
  /** The operator's weights file, for models that use one. */
  weightsFile: string | undefined;
  /** Imports a downloaded library. */
  library<T>(name: string): Promise<T>;
  /** Path of a file in a downloaded library. */
  libraryFile(name: string, file: string): string;
  /** Compute threads of the engine. */
  threads: number;
}

export type LoadEngine = (context: EngineContext) => Promise<Engine>;
