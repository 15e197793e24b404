import { createHash } from "node:crypto";
import { open, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Availability } from "@nodeloom/platform";
import { LOCAL_MODELS, type LocalModel } from "../models";

/** The operator's own models (`LOCAL_MODELS_DIR`). Each GGUF file in the subfolder `chat` is a model. */

const FOLDER = "chat";
/** Further files are ignored. */
const MAX_MODELS = 100;
const MAX_SLUG_CHARACTERS = 80;
const HASH_CHARACTERS = 6;
const ENDING = /\.gguf$/i;
/** Excludes later parts of split weights, and projectors, which belong to another file. */
const LEFT_OUT = /(?:-(?!0*1-of-)\d+-of-\d+|^mmproj.*)\.gguf$/i;
const MAGIC = "GGUF";
const GIB = 1_024 ** 3;
/** Memory in addition to the weights, mainly for the context. */
const CONTEXT_BYTES = 4 * GIB;
/** Minimum expected speed of reading weights. */
const LOAD_BYTES_PER_MS = 50_000;
const LOAD_MS = 60_000;
/** Callers don't wait longer than this for a completion. */
const RUN_MS = 280_000;

export interface OwnModel {
  /** Name in the registry. */
  name: string;
  /** File name without its extension. */
  title: string;
  model: LocalModel;
  /** The reason why the model can't be used. */
  problem?: string;
}

export type OwnModels = () => Promise<readonly OwnModel[]>;

const slugOf = (text: string): string =>
  text
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, MAX_SLUG_CHARACTERS)
    .replace(/^-|-$/g, "");

const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, HASH_CHARACTERS);

/** The reason why a file can't be loaded, found in its first bytes. */
const problemOf = async (path: string): Promise<string | undefined> => {
  try {
    const file = await open(path, "r");
    try {
      const { buffer } = await file.read(Buffer.alloc(MAGIC.length), 0, MAGIC.length, 0);
      return buffer.toString("latin1") === MAGIC ? undefined : "it isn't a GGUF file";
    } finally {
      await file.close();
    }
  } catch (error) {
    return `it can't be read: ${(error as Error).message}`;
  }
};

const bytesOf = (path: string): Promise<number> =>
  stat(path).then(
    ({ size }) => size,
    () => 0,
  );

const chatOf = async (path: string, parts: readonly string[]): Promise<LocalModel> => {
  const bytes = (await Promise.all(parts.map(bytesOf))).reduce((sum, one) => sum + one, 0);
  return {
    engine: "chat",
    assets: ["engines"],
    weightsFile: path,
    memoryBytes: bytes + CONTEXT_BYTES,
    loadMs: LOAD_MS + Math.ceil(bytes / LOAD_BYTES_PER_MS),
    runMs: RUN_MS,
  };
};

/** Names of all parts of split weights, from the name of the first part. */
const partsOf = (file: string, files: readonly string[]): string[] => {
  const prefix = /^(.*-)0*1(-of-\d+\.gguf)$/i.exec(file);
  if (!prefix) return [file];
  return files.filter((other) => other.startsWith(prefix[1]!) && other.endsWith(prefix[2]!));
};

/** Reads the folder on every call. @param folder undefined for no models */
export const createOwnModels = (folder: string | undefined): OwnModels => {
  if (!folder) return () => Promise.resolve([]);
  const root = join(folder, FOLDER);
  return async () => {
    const all = (await readdir(root).catch(() => [])).filter((file) => ENDING.test(file)).sort();
    const files = all.filter((file) => !LEFT_OUT.test(file)).slice(0, MAX_MODELS);
    const usedNames = new Set(Object.keys(LOCAL_MODELS));
    const namedFiles = files.map((file) => {
      const title = file.replace(ENDING, "").replace(/-0*1-of-\d+$/, "");
      const plain = `local-${slugOf(title) || hashOf(file)}`;
      const name = usedNames.has(plain) ? `${plain}-${hashOf(file)}` : plain;
      usedNames.add(name);
      return { file, title, name };
    });
    return Promise.all(
      namedFiles.map(async ({ file, title, name }) => {
        const [model, problem] = await Promise.all([
          chatOf(
            join(root, file),
            partsOf(file, all).map((part) => join(root, part)),
          ),
          problemOf(join(root, file)),
        ]);
        return { name, title, model, ...(problem === undefined ? {} : { problem }) };
      }),
    );
  };
};

/** @param availability availability of the engine */
export const ownAvailability = async (
  { problem, model }: OwnModel,
  availability: (model: LocalModel) => Promise<Availability>,
): Promise<Availability> => (problem === undefined ? availability(model) : { status: "away", reason: problem });
