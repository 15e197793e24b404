import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { APART, startPlatform, type Platform } from "../e2e/support/platform";
import type { Case } from "./case";
import { CASES } from "./cases";
import { createContext } from "./context";
import { startReceiver, type Receiver } from "./receiver";
import { bySection, choose, entryOf, render, titleOf } from "./report";
import { runCases, type Outcome } from "./runner";
import { SECTIONS } from "./sections";

const DOCUMENT = join(__dirname, "..", "..", "..", "docs", "conformance.md");
/** Cases run in parallel. Each test waits for its own. */
const CASE_MS = 900_000;
/** For development: only these cases, by section or part of the sentence. */
const ONLY = process.env.CONFORMANCE_ONLY;
/** Writes the document instead of checking it. */
const WRITES_DOCUMENT = process.env.CONFORMANCE_REPORT === "1";

const chosen = choose(CASES, ONLY);

let platform: Platform | undefined;
let receiver: (Receiver & { address: string }) | undefined;
const settle = new Map<Case, (outcome: Outcome) => void>();
const outcomes = new Map(chosen.map((one) => [one, new Promise<Outcome>((resolve) => settle.set(one, resolve))]));
let all: Promise<Outcome[]>;

beforeAll(async () => {
  receiver = await startReceiver(0);
  platform = await startPlatform({ groups: APART, allow: [receiver.address] });
  const context = await createContext(platform.baseUrl, { admin: platform.admin }, receiver);
  all = runCases(chosen, context, { onOutcome: (outcome) => settle.get(outcome.case)?.(outcome) });
});

afterAll(async () => {
  await platform?.stop();
  await receiver?.close();
});

describe.each(bySection(chosen.map((one) => ({ case: one }))).filter(([, cases]) => cases.length > 0))("section %s", (section, cases) => {
  it.each(cases.map((entry): [string, Case] => [`${titleOf(section)}: ${entry.case.sentence}`, entry.case]))(
    "%s",
    async (_, one) => {
      const { status, reason } = await outcomes.get(one)!;
      if (status !== "passed") throw reason ?? new Error(status);
    },
    CASE_MS,
  );
});

describe("the suite", () => {
  it("names a known section and a sentence of its own in every case", () => {
    expect(CASES.filter(({ section }) => !SECTIONS.has(section))).toEqual([]);
    const names = CASES.map(({ section, sentence }) => `${section} ${sentence}`);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  it(
    "is what the document lists, case by case",
    async () => {
      if (WRITES_DOCUMENT) writeFileSync(DOCUMENT, render(await all));
      const document = readFileSync(DOCUMENT, "utf8");
      const listed = [...document.matchAll(/^- \[[x ]\] (.*?)(?: — (?:failed|skipped): .*)?$/gm)].map(([, entry]) => entry);
      expect(listed.sort()).toEqual(CASES.map(entryOf).sort());
      expect(document).toContain(` of ${CASES.length} cases passed.`);
    },
    CASE_MS,
  );
});
