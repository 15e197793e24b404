import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { APART, startPlatform, type Platform } from "../../../test-support/platform";
import type { Case } from "./case";
import { CASES } from "./cases";
import { createContext } from "./context";
import { startReceiver, type Receiver } from "../../../test-support/receiver";
import { bySection, choose, entryOf, render, titleOf } from "./report";
import { runCases, type Outcome } from "./runner";
import { SECTIONS } from "./sections";

/** Report of every complete run. CI keeps it, and a release includes it. */
const REPORT = join(__dirname, "..", "..", "..", ".nodeloom", "conformance.md");
/** Cases run in parallel, and each test waits for its own. */
const CASE_MS = 900_000;
/** For development: runs only these cases, selected by section or part of the sentence. */
const ONLY = process.env.CONFORMANCE_ONLY;

const chosenCases = choose(CASES, ONLY);

let platform: Platform | undefined;
let receiver: (Receiver & { address: string }) | undefined;
const settle = new Map<Case, (outcome: Outcome) => void>();
const outcomes = new Map(chosenCases.map((one) => [one, new Promise<Outcome>((resolve) => settle.set(one, resolve))]));
let all: Promise<Outcome[]>;

beforeAll(async () => {
  receiver = await startReceiver();
  platform = await startPlatform({ groups: APART, allow: [receiver.address] });
  const context = await createContext(platform.baseUrl, { admin: platform.admin }, receiver);
  all = runCases(chosenCases, context, { onOutcome: (outcome) => settle.get(outcome.case)?.(outcome) });
});

afterAll(async () => {
  await platform?.stop();
  await receiver?.close();
});

afterAll(async () => {
  if (ONLY !== undefined || platform === undefined) return;
  mkdirSync(dirname(REPORT), { recursive: true });
  writeFileSync(REPORT, render(await all));
}, CASE_MS);

describe.each(bySection(chosenCases.map((one) => ({ case: one }))).filter(([, cases]) => cases.length > 0))(
  "section %s",
  (section, cases) => {
    it.each(cases.map((entry): [string, Case] => [`${titleOf(section)}: ${entry.case.sentence}`, entry.case]))(
      "%s",
      async (_, one) => {
        const { status, reason } = await outcomes.get(one)!;
        if (status !== "passed") throw reason ?? new Error(status);
      },
      CASE_MS,
    );
  },
);

describe("the suite", () => {
  it("names a known section and a unique sentence in every case", () => {
    expect(CASES.filter(({ section }) => !SECTIONS.has(section))).toEqual([]);
    const names = CASES.map(({ section, sentence }) => `${section} ${sentence}`);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  it("lists every case once in its report, with the reason of each that didn't pass", () => {
    const outcomes = CASES.map((one, index): Outcome =>
      index === 0 ? { case: one, status: "failed", ms: 1, reason: new Error("too late\nat") } : { case: one, status: "passed", ms: 1 },
    );
    const report = render(outcomes);
    const listed = [...report.matchAll(/^- \[[x ]\] (.*?)(?: — failed: too late)?$/gm)].map(([, entry]) => entry);
    expect(listed.sort()).toEqual(CASES.map(entryOf).sort());
    expect(report).toContain(`**${CASES.length - 1} of ${CASES.length} cases passed.**`);
    expect(report.split("— failed: too late").length).toBe(2);
  });
});
