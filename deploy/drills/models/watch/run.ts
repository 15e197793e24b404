import { readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { isHosted, readEntries } from "../requests";
import { COMFYUI, fetchNodes, offersIn, plainName } from "./comfyui";
import { compare, seenLine, sentId, unexplained, type Explanation } from "./compare";
import { fetchSources } from "./fetch";
import type { PricedEntry } from "./price";
import { readOffers, type Offer } from "./sources";

/**
 * `npm run registry:watch`: compares the registry with public packages that list models and prices.
 * Exit codes: 0 without differences, 1 with differences, 2 if a source can't be read.
 */

const SEEN = join(__dirname, "seen.txt");
const EXPLAINED = join(__dirname, "explained.json");
const UNREADABLE_EXIT_CODE = 2;
const options = {
  from: { type: "string" },
  comfyui: { type: "string" },
  seen: { type: "string", default: SEEN },
  accept: { type: "boolean", default: false },
} as const;

const print = (text: string): void => void process.stdout.write(`${text}\n`);
const linesOf = (file: string): string[] => readFileSync(file, "utf8").split("\n").filter(Boolean);

/** Models of a ComfyUI that the registry lacks. */
const comfyOffers = async (address: string, entries: readonly PricedEntry[]): Promise<Offer[]> => {
  const names = entries.flatMap((entry) => [entry.internalName, sentId(entry) ?? ""]);
  return offersIn(await fetchNodes(address), new Set(names.map(plainName)));
};

const main = async (): Promise<number> => {
  const { values } = parseArgs({ options });
  const folder = values.from ?? join(process.env.NODELOOM_CACHE_DIR || join(homedir(), ".cache", "nodeloom"), "registry-watch");
  if (values.from === undefined) fetchSources(folder);
  const entries = readEntries().filter(isHosted) as PricedEntry[];
  const offers = [...readOffers(folder), ...(values.comfyui === undefined ? [] : await comfyOffers(values.comfyui, entries))];
  const earlier = linesOf(values.seen);
  const explanations = JSON.parse(readFileSync(EXPLAINED, "utf8")) as Explanation[];
  const findings = unexplained(compare({ entries, offers, earlierLines: new Set(earlier) }), explanations);
  for (const { change, company, model, text, from } of findings)
    print(`${change.padEnd("retiring".length)}  ${company}  ${model}${text === "" ? "" : `: ${text}`}  (${from})`);
  const count = new Set(offers.map(seenLine)).size;
  print(
    `${findings.length} differences; ${entries.length} entries, ${count} models in ${new Set(offers.map(({ source }) => source)).size} sources`,
  );
  if (values.accept) {
    // Most runs don't read ComfyUI: what it listed before stays known.
    const comfyLines = values.comfyui === undefined ? earlier.filter((line) => line.startsWith(`${COMFYUI} `)) : [];
    writeFileSync(values.seen, `${[...new Set([...offers.map(seenLine), ...comfyLines])].sort().join("\n")}\n`);
  }
  return findings.length === 0 ? 0 : 1;
};

main().then(
  (code) => (process.exitCode = code),
  (error: unknown) => {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exitCode = UNREADABLE_EXIT_CODE;
  },
);
