import { execFileSync } from "node:child_process";
import { join } from "node:path";

/** Checks of `npm run drill answers`. The script is ESM, which Jest can't load here. */

interface Answer {
  status: number;
  code?: string;
  executionId?: string;
  isUnknown?: boolean;
  sentAt?: number;
  answeredAt?: number;
}

const START = Date.parse("2030-01-01T00:00:00Z");
const run = (status: string, part: object = {}): object => ({
  executionId: "run-1",
  status,
  creditsCost: 1,
  createdAt: new Date(START).toISOString(),
  durationMs: 5_000,
  ...part,
});
const answerOf = (status: number, part: Partial<Answer> = {}): object => ({
  key: "key",
  status,
  code: null,
  executionId: null,
  isUnknown: false,
  sentAt: START,
  answeredAt: START + 1_000,
  ...part,
});
const accepted = answerOf(202, { executionId: "run-1" });
const refusal = answerOf(503, { code: "SERVICE_UNAVAILABLE" });

const CASES: [string, object[], object[], number][] = [
  ["a run that was reported and ended", [accepted, answerOf(202, { executionId: "run-1" })], [run("failed")], 0],
  ["a run that was reported and is missing", [accepted], [], 1],
  ["a run that was reported and does not end", [accepted], [run("processing")], 1],
  ["a result of a run that failed", [answerOf(200)], [run("failed")], 1],
  ["a failure of a run that completed", [answerOf(500, { executionId: "run-1" })], [run("completed")], 1],
  ["a refusal without a run", [refusal, answerOf(402), answerOf(422)], [], 0],
  ["a refusal of a run that goes on", [refusal], [run("completed")], 1],
  [
    "a refusal, and the same request once more",
    [refusal, answerOf(202, { executionId: "run-1", sentAt: START + 2_000 })],
    [run("completed")],
    0,
  ],
  [
    "a refusal while an earlier request's run is under way",
    [accepted, answerOf(503, { sentAt: START + 1_500, answeredAt: START + 2_000 })],
    [run("completed")],
    1,
  ],
  ["an answer that says that it does not know", [answerOf(503, { isUnknown: true }), answerOf(0), answerOf(409)], [run("completed")], 0],
  ["two runs of one key", [accepted], [run("completed"), run("completed", { executionId: "run-2" })], 1],
  ["two ids of one key", [accepted, answerOf(202, { executionId: "run-2" })], [run("completed")], 2],
];

const SCRIPT = `
import { untruths } from ${JSON.stringify(join(__dirname, "../answers/check.mjs"))};
let input = "";
for await (const chunk of process.stdin) input += chunk;
process.stdout.write(JSON.stringify(JSON.parse(input).map(([, answers, executions]) => untruths(answers, executions))));
`;
const verdicts = JSON.parse(
  execFileSync(process.execPath, ["--input-type=module", "--eval", SCRIPT], { input: JSON.stringify(CASES), encoding: "utf8" }),
) as string[][];

it.each(CASES.map(([name, , , count], index) => [name, count, verdicts[index]!] as const))("judges %s", (_name, count, untrue) => {
  expect(untrue).toHaveLength(count);
});
