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
  keep(id: string, folder: string, result: EngineResult): Promise<MadeFile[]>;
  /** Returns the text result; undefined for files. */
  answer(keptFiles: readonly MadeFile[]): Promise<Answer | undefined>;
  /** Returns the path of a public file. */
  path(name: string): string | undefined;
  forget(keptFiles: readonly MadeFile[]): Promise<void>;
}

export const createMadeFiles = (directory: string): MadeFiles => ({
  keep: async (id, folder, { files = [], text, json }) => {
    if (text !== undefined) await writeFile(join(folder, ANSWER.name), JSON.stringify({ text, json } satisfies Answer));
    const resultFiles = text === undefined ? files : [...files, ANSWER];
    const keptFiles = resultFiles.map(({ name, contentType }, index) => ({
      from: name,
      name: `${id}-${index}${extname(name)}`,
      contentType,
    }));
    for (const { from, name } of keptFiles) await rename(join(folder, from), join(directory, name));
    return keptFiles.map(({ name, contentType }) => ({ name, contentType }));
  },
  answer: async (keptFiles) => {
    const file = keptFiles.find(({ contentType }) => contentType === ANSWER.contentType);
    return file && (JSON.parse(await readFile(join(directory, file.name), "utf8")) as Answer);
  },
  path: (name) => {
    const path = join(directory, name);
    return FILE_NAME.test(name) && existsSync(path) ? path : undefined;
  },
  forget: async (keptFiles) => {
    for (const { name } of keptFiles) await rm(join(directory, name), { force: true });
  },
});
