/** Interface of engines. An engine is the part of a model's process that uses the weights. */

/** Thrown for unsuitable inputs. The message is shown to the caller. */
export class InputError extends Error {
  override readonly name = "InputError";
}

export interface EngineRequest {
  /** Inputs that are validated by the model's entry in `models.ts`. */
  inputs: Readonly<Record<string, unknown>>;
  /** Paths of input files, by input. */
  files: Readonly<Record<string, string>>;
  /** Folder for the request's results. */
  folder: string;
}

export interface Report {
  /** @param share completed part of the work, from 0 to 1 */
  progress(share: number): void;
  /** Streams the next part of a text. */
  text(piece: string): void;
}

export interface MadeFile {
  /** File name, relative to the request's folder. */
  name: string;
  contentType: string;
}

export interface EngineResult {
  files?: MadeFile[];
  text?: string;
  /** Structured form of the text, for callers that request JSON. */
  json?: Readonly<Record<string, unknown>>;
  /** True if the text was cut at the token limit. */
  isCut?: boolean;
  usage?: { inputTokens: number; outputTokens: number };
}

/** Kind of GPU that engines use instead of the CPU. */
export type Gpu = "cuda";

export interface Engine {
  run(request: EngineRequest, report: Report): Promise<EngineResult>;
}

export interface EngineContext {
  /** Returns the folder of a weights asset. @throws if it isn't downloaded */
  weights(asset: string): string;
  /** The operator's weights file, for models that use one. */
  weightsFile: string | undefined;
  library<T>(name: string): Promise<T>;
  /** Returns the path of a file in a downloaded library. */
  libraryFile(name: string, file: string): string;
  threads: number;
  gpu: Gpu | undefined;
}

export type LoadEngine = (context: EngineContext) => Promise<Engine>;
