import { existsSync } from "node:fs";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { extname, join } from "node:path";
import type { EngineResult, MadeFile } from "./engines/engine";

/** Results of jobs are files with unguessable names. A text is also stored as a file, but returned only with its job. */

const FILE_NAME = /^[0-9a-f-]{36}-\d{1,2}\.(?:png|wav|mp4)$/;
const ANSWER = { name: "answer.json", contentType: "application/json" } as const satisfies MadeFile;

/** A text and its structured form. */
export type Answer = Required<Pick<EngineResult, "text">> & Pick<EngineResult, "json">;

export interface MadeFiles {
  /** Moves a job's results from its folder to the served folder. */
  keep(id: string, folder: string, made: EngineResult): Promise<MadeFile[]>;
  /** Returns the text result; undefined for files. */
  answer(kept: readonly MadeFile[]): Promise<Answer | undefined>;
  /** Returns the path of a public file. */
  path(name: string): string | undefined;
  forget(kept: readonly MadeFile[]): Promise<void>;
}

export const createMadeFiles = (directory: string): MadeFiles => ({
  keep: async (id, folder, { files = [], text, json }) => {
    if (text !== undefined) await writeFile(join(folder, ANSWER.name), JSON.stringify({ text, json } satisfies Answer));
    const made = text === undefined ? files : [...files, ANSWER];
    const kept = made.map(({ name, contentType }, index) => ({ from: name, name: `${id}-${index}${extname(name)}`, contentType }));
    for (const { from, name } of kept) await rename(join(folder, from), join(directory, name));
    return kept.map(({ name, contentType }) => ({ name, contentType }));
  },
  answer: async (kept) => {
    const file = kept.find(({ contentType }) => contentType === ANSWER.contentType);
    return file && (JSON.parse(await readFile(join(directory, file.name), "utf8")) as Answer);
  },
  path: (name) => {
    const path = join(directory, name);
    return FILE_NAME.test(name) && existsSync(path) ? path : undefined;
  },
  forget: async (kept) => {
    for (const { name } of kept) await rm(join(directory, name), { force: true });
  },
});
