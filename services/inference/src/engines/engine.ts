/** What every engine is: the part of a model's process that knows its weights. */

/** What was asked can't be done with these inputs. The message is for whoever sent them. */
export class InputError extends Error {
  override readonly name = "InputError";
}

export interface EngineRequest {
  /** As the model's entry in `models.ts` has checked them. */
  inputs: Readonly<Record<string, unknown>>;
  /** Paths of the files among the inputs, by input. */
  files: Readonly<Record<string, string>>;
  /** A folder of this request's own, for what it makes. */
  folder: string;
}

export interface Report {
  /** @param share of the work that is done, from 0 to 1 */
  progress(share: number): void;
  /** The next piece of a text. */
  text(piece: string): void;
}

export interface MadeFile {
  /** In the request's folder. */
  name: string;
  contentType: string;
}

export interface EngineResult {
  files?: MadeFile[];
  text?: string;
  /** What the text was made of, for those who ask for JSON. */
  json?: Readonly<Record<string, unknown>>;
  /** The text ends where the most tokens were reached. */
  isCut?: boolean;
  usage?: { inputTokens: number; outputTokens: number };
}

export interface Engine {
  run(request: EngineRequest, report: Report): Promise<EngineResult>;
}

export interface EngineContext {
  /** The folder of a set of weights. @throws when it was not fetched */
  weights(asset: string): string;
  /** The file of the operator's own weights, where the model has such. */
  weightsFile: string | undefined;
  /** A fetched library. */
  library<T>(name: string): Promise<T>;
  /** The path of a file of a fetched library. */
  libraryFile(name: string, file: string): string;
  /** Threads that the engine may compute with. */
  threads: number;
}

export type LoadEngine = (context: EngineContext) => Promise<Engine>;
