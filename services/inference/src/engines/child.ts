import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { InputError, type Engine, type EngineContext } from "./engine";
import { ENGINES, type EngineName } from "./index";
import type { FromChild, StartOptions, ToChild } from "./protocol";

/** A model's process. It loads one engine and handles one request at a time. The parent can kill it at any time. */

/** Imports an ES module, because compiled CommonJS has no dynamic import. */
export type ImportModule = (url: string) => Promise<unknown>;

interface Manifest {
  type?: string;
  main?: string;
  exports?: unknown;
}

/** Returns the entry file for Node.js from an `exports` member. */
const entryOf = (exports: unknown): string | undefined => {
  if (typeof exports === "string") return exports;
  if (typeof exports !== "object" || exports === null) return undefined;
  const { ".": root, node, import: asModule, default: otherwise } = exports as Record<string, unknown>;
  return entryOf(root) ?? entryOf(node) ?? entryOf(asModule) ?? entryOf(otherwise);
};

const contextOf = ({ cacheFolders, weightsFile, threads, gpu }: StartOptions, importModule: ImportModule): EngineContext => {
  const weights = (asset: string): string => {
    const folder = cacheFolders[asset];
    if (folder === undefined) throw new Error(`${asset} was not fetched`);
    return folder;
  };
  const packageFile = (name: string, file: string): string => join(weights("engines"), "node_modules", name, file);
  return {
    threads,
    gpu,
    weightsFile,
    weights,
    libraryFile: packageFile,
    library: async <T>(name: string): Promise<T> => {
      const require = createRequire(packageFile(name, "package.json"));
      const { type, main = "index.js", exports } = require("./package.json") as Manifest;
      if (type !== "module") return require(packageFile(name, "")) as T;
      return (await importModule(pathToFileURL(packageFile(name, entryOf(exports) ?? main)).href)) as T;
    },
  };
};

/** Loads the engine. @throws an error that says if the GPU may be the reason */
const loadEngine = (options: StartOptions, importModule: ImportModule): Promise<Engine> =>
  ENGINES[options.engine as EngineName](contextOf(options, importModule)).catch((error: unknown) => {
    if (!options.gpu) throw error;
    const message = error instanceof Error ? error.message : String(error);
    throw new Error(`it can't be loaded on the GPU; check the driver, ${options.gpu}'s libraries and the free memory: ${message}`, {
      cause: error,
    });
  });

const send = (message: FromChild): void => void process.send?.(message);

/** Loads the engine that the first message names, reports readiness, and handles requests. */
export const runChild = async (importModule: ImportModule): Promise<void> => {
  let engine: Engine | undefined;
  const answer = async (message: ToChild): Promise<FromChild> => {
    if (message.type === "load") {
      engine = await loadEngine(message.options, importModule);
      return { type: "ready" };
    }
    if (!engine) throw new Error("no engine is loaded");
    const progress = (share: number): void => send({ type: "progress", share });
    const text = (piece: string): void => send({ type: "text", piece });
    return { type: "done", result: await engine.run(message.request, { progress, text }) };
  };
  const failed = (error: unknown): FromChild => ({
    type: "failed",
    message: error instanceof Error ? error.message : String(error),
    isInput: error instanceof InputError,
  });
  process.on("message", (message: ToChild) => void answer(message).catch(failed).then(send));
  await new Promise<void>((resolve) => process.once("disconnect", resolve));
  process.exit(0);
};
