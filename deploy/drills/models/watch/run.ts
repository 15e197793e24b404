import { readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { isHosted, readEntries } from "../requests";
import { compare, seenLine, unexplained, type Explanation } from "./compare";
import { fetchSources } from "./fetch";
import type { PricedEntry } from "./price";
import { readOffers } from "./sources";

/**
 * `npm run registry:watch`: compares the registry with public packages that list models and prices.
 * Exit codes: 0 without differences, 1 with differences, 2 if a source can't be read.
 */

const SEEN = join(__dirname, "seen.txt");
const EXPLAINED = join(__dirname, "explained.json");
const UNREADABLE_EXIT_CODE = 2;
const options = { from: { type: "string" }, seen: { type: "string", default: SEEN }, accept: { type: "boolean", default: false } } as const;

const print = (text: string): void => void process.stdout.write(`${text}\n`);
const linesOf = (file: string): string[] => readFileSync(file, "utf8").split("\n").filter(Boolean);

const main = (): number => {
  const { values } = parseArgs({ options });
  const folder = values.from ?? join(process.env.NODELOOM_CACHE_DIR || join(homedir(), ".cache", "nodeloom"), "registry-watch");
  if (values.from === undefined) fetchSources(folder);
  const offers = readOffers(folder);
  const entries = readEntries().filter(isHosted) as PricedEntry[];
  const explanations = JSON.parse(readFileSync(EXPLAINED, "utf8")) as Explanation[];
  const findings = unexplained(compare({ entries, offers, earlierLines: new Set(linesOf(values.seen)) }), explanations);
  for (const { change, company, model, text, from } of findings)
    print(`${change.padEnd("retiring".length)}  ${company}  ${model}${text === "" ? "" : `: ${text}`}  (${from})`);
  const count = new Set(offers.map(seenLine)).size;
  print(
    `${findings.length} differences; ${entries.length} entries, ${count} models in ${new Set(offers.map(({ source }) => source)).size} sources`,
  );
  if (values.accept) writeFileSync(values.seen, `${[...new Set(offers.map(seenLine))].sort().join("\n")}\n`);
  return findings.length === 0 ? 0 : 1;
};

try {
  process.exitCode = main();
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = UNREADABLE_EXIT_CODE;
}
