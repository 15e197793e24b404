import { writeFile } from "node:fs/promises";
import type { TestRunWithResults } from "../api-types";
import type { Commands } from "./command";
import { EXIT, Refusal } from "./outcome";
import { openClient } from "./settings";
import type { Terminal } from "./terminal";

/** `nodeloom test`: runs the tests of a workflow; exit code 1 if one fails. */

interface TestOptions {
  version?: string;
  alias?: string;
  against?: string;
  junit?: string;
}

type Result = TestRunWithResults["results"][number];

const NUMBER = /^\d+$/;
const DRAFT = "draft";

/** A version number or `draft`; other texts are aliases. */
const selected = (text: string): { version: string } | { alias: string } =>
  NUMBER.test(text) || text === DRAFT ? { version: text } : { alias: text };

const orderOf = ({ version, alias, against }: TestOptions) => ({
  ...(version === undefined ? {} : { version }),
  ...(alias === undefined ? {} : { alias }),
  ...(against === undefined ? {} : { against: selected(against) }),
});

const valueText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

/** Longest text of a value in the output. */
const MOST_CHARS = 200;
const short = (value: unknown): string => {
  const text = valueText(value);
  return text.length <= MOST_CHARS ? text : `${text.slice(0, MOST_CHARS)}…`;
};

const checkText = ({ kind, index, path, passed, expected, got }: Result["checks"][number]): string => {
  const place = `${index === undefined ? "" : `expect[${index}] `}${kind}${path === undefined ? "" : ` at ${path}`}`;
  return `    ${passed ? "ok  " : "fail"} ${place}: expected ${short(expected)}, got ${short(got)}`;
};

const resultText = ({ name, status, creditsCost, price, durationMs, checks, differences = [] }: Result): string =>
  [
    `${status === "passed" ? "ok  " : status} ${name}: ${creditsCost} of ${price} credits, ${durationMs ?? 0} ms`,
    ...checks.map(checkText),
    ...differences.map(({ path, now, before }) => `    ${path}: ${valueText(before)} -> ${valueText(now)}`),
  ].join("\n");

const summaryOf = ({ status, passed, failed, total, creditsCost, against }: TestRunWithResults): string => {
  const compared = against ? `, and ${against.creditsCost} for the version to compare with` : "";
  return `${status}: ${passed} of ${total} passed, ${failed} failed; ${creditsCost} credits${compared}`;
};

const test = async (slug: string, options: TestOptions, terminal: Terminal): Promise<number> => {
  if (options.version !== undefined && options.alias !== undefined) throw new Refusal("give either --version or --alias");
  const client = await openClient();
  const { batchId, total } = await client.tests.run(slug, orderOf(options));
  terminal.note(`running ${total} tests of ${slug} as ${batchId}`);
  const run = await client.tests.wait(slug, batchId);
  terminal.value(run, [...run.results.map(resultText), summaryOf(run)].join("\n"));
  if (options.junit !== undefined) await writeFile(options.junit, await client.tests.junit(slug, batchId));
  return run.status === "passed" ? 0 : EXIT.failed;
};

export const addTestCommand = ({ program, perform }: Commands): void => {
  program
    .command("test")
    .argument("<workflow>", "its slug")
    .description("runs the tests of a workflow; exit code 1 if one fails")
    .option("--version <n>", "test this version, or draft (the default)")
    .option("--alias <name>", "test the version of this alias")
    .option("--against <which>", "compare with an alias, such as production, or a version")
    .option("--junit <file>", "also write the results as JUnit XML")
    .action((slug: string, options: TestOptions) => perform((terminal) => test(slug, options, terminal)));
};
