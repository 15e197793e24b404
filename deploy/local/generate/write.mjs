import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { format, resolveConfig } from "prettier";
import { ROOT } from "../paths.mjs";

/** Writes a file as prettier sets it, if that changes it. @param {string} path from the root @param {string} text */
export const writeGenerated = async (path, text) => {
  const target = join(ROOT, path);
  const formatted = await format(text, { ...(await resolveConfig(target)), filepath: target });
  if (formatted !== readFileSync(target, { encoding: "utf8", flag: "a+" })) writeFileSync(target, formatted);
};
