import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT } from "../paths.mjs";

/**
 * Words that make a sentence of the documentation hard to read, each with a plain replacement. A text that passes can still be hard to
 * read: the real test is a person who reads a page aloud without going back (docs/contribute/conventions.md).
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

/** Words without a subject at the start of a comment. @type {readonly Rule[]} */
const OPENINGS = [
  { pattern: /^(?:Of|Those|The same)\b/, instead: "name the subject first" },
  { pattern: /^(?:Who|What (?:is|has|was))\b/, instead: "name the subject first" },
];

/** Services with rewritten comments. Add each service when its comments are rewritten. */
const COMMENTED = [
  "billing",
  "executions",
  "identity",
  "inference",
  "kernel",
  "media",
  "migrate",
  "models",
  "notifications",
  "platform",
  "providers",
  "sandbox",
  "transform",
  "triggers",
  "usage",
  "workflows",
];

/** Other folders with rewritten comments, as patterns of git. */
const COMMENTED_ELSEWHERE = [
  "gateway/src/*.ts",
  "gateway/test/*.ts",
  "gateway/test/*.mjs",
  "gateway/client/src/*.ts",
  "gateway/console/src/*.ts",
  "gateway/console/src/*.tsx",
  "gateway/console/test/*.ts",
  "gateway/console/e2e/*.ts",
  "test-support/*.ts",
  "deploy/*.ts",
  "deploy/*.mjs",
  "deploy/*.cjs",
  "deploy/*.cts",
];

/** Sources with comments generated from descriptions, and the test of this check, which quotes bad comments. */
const QUOTING = [/api-types\.ts$/, /words\.test\.mjs$/];

/** Generated pages, and pages that quote code and people. */
const LEFT_OUT = [/^docs\/reference\//, /^docs\/design\//, /^CODE_OF_CONDUCT\.md$/];

/** Removes code and targets of links, which are names. @param {string} line */
const withoutNames = (line) => line.replaceAll(/`[^`]*`/g, "`x`").replaceAll(/\]\([^)]*\)/g, "]");

/** @param {string} text a page in Markdown @returns {{ line: number, words: string, instead: string }[]} */
export const awkwardIn = (text) => {
  let inCode = false;
  return text.split("\n").flatMap((raw, index) => {
    if (raw.trimStart().startsWith("```")) inCode = !inCode;
    if (inCode) return [];
    const line = withoutNames(raw);
    return RULES.flatMap(({ pattern, instead }) => {
      const match = pattern.exec(line);
      return match ? [{ line: index + 1, words: match[0].slice(0, 60), instead }] : [];
    });
  });
};

/** Doc comments, and lines of `//` comments. */
const COMMENT = /\/\*\*?([\s\S]*?)\*\/|^[ \t]*\/\/([^\n]*)$/gm;

/** @param {string} text TypeScript @returns {{ line: number, words: string, instead: string }[]} */
export const awkwardInComments = (text) =>
  [...text.matchAll(COMMENT)].flatMap(({ 0: whole, 1: block, 2: rest = "", index }) => {
    const words = withoutNames((block ?? rest).replaceAll(/^\s*\* ?/gm, "")).trim();
    // A later line of a `//` comment can continue a sentence.
    const goesOn = block === undefined && /^[ \t]*\/\/.*\n$/m.test(text.slice(text.lastIndexOf("\n", index - 2) + 1, index));
    return [...(goesOn ? [] : OPENINGS), ...RULES.filter(({ pattern }) => !pattern.source.startsWith("^"))].flatMap(
      ({ pattern, instead }) => {
        const match = pattern.exec(words);
        return match ? [{ line: text.slice(0, index + whole.search(/\S/)).split("\n").length, words: match[0], instead }] : [];
      },
    );
  });

const PARTICIPLES =
  "made|given|asked|known|taken|told|kept|held|done|seen|sent|said|wanted|meant|shown|named|claimed|begun|ended|refused|carried|heard|found|stored|saved|loaded|placed|chosen|opened|described|received|answered|called|handled|looked|needed";

/** Participles that no stored record, message or payload has as a member. */
const UNSTORED = "made|told|heard|said|wanted|begun";

/** Names that say nothing about the value: of variables, types, members and conditions. */
const VAGUE_NAMES = [
  /\b(?:const|let|var) (made|given|asked|known|taken|told|kept|held|done|seen|sent|said|wanted|meant|shown|named|claimed|begun|ended|refused|carried)\b(?= ?[=:;])/,
  new RegExp(
    `^(?:export )?(?:declare )?(?:interface|type|class) (?:${PARTICIPLES.replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase())})\\b`,
  ),
  new RegExp(`^\\s+(?:readonly )?(?:${UNSTORED})\\??: .*;$`),
  new RegExp(`\\b(?:const|let) [{[][^=]*\\b(?:${UNSTORED})\\b *[,}\\]]`),
  /\b(?:is|are)(?:[A-Z]\w*)?Away\b/,
];

/** @param {string} text TypeScript or JavaScript @returns {{ line: number, words: string, instead: string }[]} */
export const participlesIn = (text) =>
  text.split("\n").flatMap((code, index) =>
    VAGUE_NAMES.flatMap((pattern) => {
      const match = pattern.exec(code);
      return match ? [{ line: index + 1, words: match[0].trim(), instead: "a noun that says what it holds" }] : [];
    }),
  );

const SOURCE_PATH = /`([\w@.-]+\/[\w@./-]*\.(?:tsx?|[cm]js)|(?:deploy|docs|gateway|proto|services)\/[\w@./-]*\/)`/g;

/**
 * Source files and folders that a page names and that don't exist. A file's path may leave out its first folders.
 * @param {readonly string[]} files @returns {typeof awkwardIn}
 */
export const missingFilesIn = (files) => (text) =>
  text
    .split("\n")
    .flatMap((words, index) =>
      [...words.matchAll(SOURCE_PATH)].flatMap(([, path]) =>
        files.some((file) => `/${file}`.endsWith(`/${path}`) || (path?.endsWith("/") && file.startsWith(path)))
          ? []
          : [{ line: index + 1, words: path ?? "", instead: "a file or folder that exists" }],
      ),
    );

/** @param {string[]} patterns @returns {string[]} */
const filesOf = (...patterns) =>
  execFileSync("git", ["ls-files", ...patterns], { cwd: ROOT, encoding: "utf8" })
    .split("\n")
    .filter(Boolean);

/** @param {string[]} paths @param {typeof awkwardIn} find */
const problemsIn = (paths, find) =>
  paths.flatMap((path) =>
    find(readFileSync(join(ROOT, path), "utf8")).map(({ line, words, instead }) => `${path}:${line}: "${words}": ${instead}`),
  );

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const pages = filesOf("*.md").filter((path) => !LEFT_OUT.some((excluded) => excluded.test(path)));
  const sources = filesOf(...COMMENTED.map((name) => `services/${name}/*.ts`), ...COMMENTED_ELSEWHERE).filter(
    (path) => !QUOTING.some((excluded) => excluded.test(path)),
  );
  const code = filesOf("*.ts", "*.tsx", "*.mjs", "*.cjs").filter((path) => !QUOTING.some((quoting) => quoting.test(path)));
  const problems = [
    ...problemsIn(pages, awkwardIn),
    ...problemsIn(pages, missingFilesIn(filesOf())),
    ...problemsIn(sources, awkwardInComments),
    ...problemsIn(code, participlesIn),
  ];
  if (problems.length > 0) {
    process.stderr.write(`${problems.join("\n")}\n`);
    process.exitCode = 1;
  }
}
