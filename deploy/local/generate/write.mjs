import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { format, resolveConfig } from "prettier";
import { ROOT } from "../paths.mjs";

/**
 * Writes a file if it changes. With GENERATED=check it reports the file and fails instead. @param {string} path relative to the root @param
 * {string} text
 */
export const writeChanged = (path, text) => {
  const target = join(ROOT, path);
  if (existsSync(target) && text === readFileSync(target, "utf8")) return;
  if (process.env.GENERATED !== "check") return writeFileSync(target, text);
  process.stderr.write(`${path} is out of date: run npm run generate\n`);
  process.exitCode = 1;
};

/** Writes a formatted file if it changes. @param {string} path relative to the root @param {string} text */
export const writeGenerated = async (path, text) => {
  const target = join(ROOT, path);
  writeChanged(path, await format(text, { ...(await resolveConfig(target)), filepath: target }));
};

/**
 * Replaces the parts of a page between `<!-- name -->` and `<!-- end -->`.
 * @param {string} path relative to the root @param {Record<string, string>} contents by name
 */
export const writeMarked = async (path, contents) => {
  let page = readFileSync(join(ROOT, path), "utf8");
  for (const [name, content] of Object.entries(contents)) {
    const marked = new RegExp(`(<!-- ${name} -->\\n)[\\s\\S]*?(<!-- end -->)`);
    if (!marked.test(page)) throw new Error(`${path} has no place for: ${name}`);
    page = page.replace(marked, (_, start, end) => `${start}\n${content}\n\n${end}`);
  }
  await writeGenerated(path, page);
};

/**
 * Replaces the lines between `# generated: <name>` and the next `# end`.
 * @param {string} text @param {string} name @param {string} content
 */
export const replaceRegion = (text, name, content) => {
  const pattern = new RegExp(`(^ *# generated: ${name}\\b.*\\n)[\\s\\S]*?(^ *# end$)`, "m");
  if (!pattern.test(text)) throw new Error(`there is no region ${name}`);
  return text.replace(pattern, (_, start, end) => `${start}${content.replace(/\n*$/, "\n")}${end}`);
};

const COMMENT_WIDTH = 110;

/** A wrapped comment. @param {string} text @param {string} indent */
export const commentOf = (text, indent) => {
  /** @type {string[]} */
  const lines = [];
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < COMMENT_WIDTH) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines.map((line) => `${indent}# ${line}\n`).join("");
};
