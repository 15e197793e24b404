import type { Case } from "./case";
import type { Outcome } from "./runner";
import { SECTIONS } from "./sections";

const HEAD = `# Conformance

Promises of the HTTP interface, and whether they hold. Each line is one case of the suite in \`gateway/test/conformance\`. The suite
speaks only HTTP, so you can run it against any deployment:

\`\`\`sh
npm run drill -- conformance --base-url http://127.0.0.1:8080 --accounts .nodeloom/local.json --report conformance.md
\`\`\`

A ticked case passed. The others failed or couldn't be tried, and say why.
`;

const MARKS: Readonly<Record<Outcome["status"], string>> = { passed: "x", failed: " ", skipped: " " };

const firstLine = (error: Error | undefined): string => (error?.message ?? "").split("\n")[0]!.slice(0, 300);

const escaped = (text: string): string => text.replace(/ {2,}/g, " ").replace(/(^| )_|[*\\<]/g, (mark) => mark.replace(/[_*\\<]/, "\\$&"));

export const entryOf = ({ sentence }: Case): string => escaped(sentence);

const line = (outcome: Outcome): string => {
  const { status, reason } = outcome;
  return `- [${MARKS[status]}] ${entryOf(outcome.case)}${status === "passed" ? "" : ` — ${status}: ${escaped(firstLine(reason))}`}`;
};

export const titleOf = (section: string): string => `${section} ${SECTIONS.get(section) ?? ""}`.trim();

/** Cases by section, in the contract's order. */
export const bySection = <T extends { case: Case }>(outcomes: readonly T[]): [section: string, T[]][] =>
  [...SECTIONS.keys()].map((section) => [section, outcomes.filter((outcome) => outcome.case.section === section)]);

/** The document with the number of passed cases, and every case under its section. */
export const render = (outcomes: readonly Outcome[]): string => {
  const passed = outcomes.filter(({ status }) => status === "passed").length;
  const parts = bySection(outcomes)
    .filter(([, own]) => own.length > 0)
    .map(([section, own]) => `## ${titleOf(section)}\n\n${own.map(line).join("\n")}\n`);
  return [HEAD, `**${passed} of ${outcomes.length} cases passed.**\n`, ...parts].join("\n");
};

/** Selects the cases of a section, or else the cases whose sentence contains the text. */
export const choose = (cases: readonly Case[], only: string | undefined): readonly Case[] =>
  cases.filter(({ section, sentence }) => only === undefined || (SECTIONS.has(only) ? section === only : sentence.includes(only)));
