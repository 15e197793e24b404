import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { z } from "zod";

/** A file of JSON lines, which one process writes. */
export interface Journal<T> {
  /** Returns all readable entries, oldest first. A line cut off by a crash is skipped. */
  read(): T[];
  /** Returns after the entry is safe from a crash of this process. */
  append(entry: T): void;
  /** Replaces the whole file atomically. */
  rewrite(entries: readonly T[]): void;
}

const OWNER_ONLY = 0o600;

export const openJournal = <T>(path: string, schema: z.ZodType<T>): Journal<T> => {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const parse = (line: string): T[] => {
    try {
      const parsed = schema.safeParse(JSON.parse(line));
      return parsed.success ? [parsed.data] : [];
    } catch {
      return [];
    }
  };
  return {
    read: () => (existsSync(path) ? readFileSync(path, "utf8").split("\n").flatMap(parse) : []),
    append: (entry) => appendFileSync(path, `${JSON.stringify(entry)}\n`, { mode: OWNER_ONLY }),
    rewrite: (entries) => {
      const next = `${path}.next`;
      writeFileSync(next, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""), { mode: OWNER_ONLY });
      renameSync(next, path);
    },
  };
};
