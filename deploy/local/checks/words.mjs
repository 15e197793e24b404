import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT } from "../paths.mjs";

/**
 * Words that make a sentence of the documentation hard to read, each with a plain replacement. Passing is the floor; the test is a person
 * who reads a page aloud without going back (docs/contribute/conventions.md).
 *
 * @typedef {object} Rule
 * @property {RegExp} pattern
 * @property {string} instead
 */

/** @type {readonly Rule[]} */
export const RULES = [
  { pattern: /\banew\b/i, instead: "again" },
  { pattern: /\b(?:whoever|whosoever)\b/i, instead: "name the person or the caller" },
  { pattern: /\b(?:nobody|no one)\b/i, instead: "say who can't, or what doesn't happen" },
  { pattern: /\bsomebody\b/i, instead: "a person, a caller, another account" },
  { pattern: /\bhears? of\b/i, instead: "gets, receives, is notified of" },
  { pattern: /\bof which (?:all|each|it|the|there)\b|, of which\b(?! \d)/i, instead: "two sentences" },
  { pattern: /\bleaves? aside\b/i, instead: "ignores" },
  { pattern: /\bcomes? to be\b/i, instead: "becomes" },
  { pattern: /\bshall\b/i, instead: "must, or the present tense" },
  { pattern: /^(?:[-*|] ?)*(?:Of|Those|The same of) /, instead: "name the subject first" },
  { pattern: /^(?:[-*] ?)*(?:What (?:is|was|has)|Who) .*[^?|]$/, instead: "name the subject first" },
];

/** Pages that are generated, or quote code and people. */
const LEFT_OUT = [/^docs\/conformance\.md$/, /^docs\/reference\//, /^docs\/design\//, /^CODE_OF_CONDUCT\.md$/];

/** Code and targets of links are names. @param {string} line */
const withoutNames = (line) => line.replaceAll(/`[^`]*`/g, "`x`").replaceAll(/\]\([^)]*\)/g, "]");

/** @param {string} text a page in Markdown @returns {{ line: number, words: string, instead: string }[]} */
export const awkwardIn = (text) => {
  let inCode = false;
  return text.split("\n").flatMap((raw, index) => {
    if (raw.trimStart().startsWith("```")) inCode = !inCode;
    if (inCode) return [];
    const line = withoutNames(raw);
    return RULES.flatMap(({ pattern, instead }) => {
      const found = pattern.exec(line);
      return found ? [{ line: index + 1, words: found[0].slice(0, 60), instead }] : [];
    });
  });
};

const pages = () =>
  execFileSync("git", ["ls-files", "*.md"], { cwd: ROOT, encoding: "utf8" })
    .split("\n")
    .filter((path) => path !== "" && !LEFT_OUT.some((left) => left.test(path)));

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const found = pages().flatMap((path) =>
    awkwardIn(readFileSync(join(ROOT, path), "utf8")).map(({ line, words, instead }) => `${path}:${line}: "${words}": ${instead}`),
  );
  if (found.length > 0) {
    process.stderr.write(`${found.join("\n")}\n`);
    process.exitCode = 1;
  }
}
