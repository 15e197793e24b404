import { FINAL } from "../support/invariants.mjs";

/** @typedef {import("./load.mjs").Answered} Answered */
/** @typedef {{ executionId: string, status: string, creditsCost: number, createdAt: string, durationMs: number, metadata?: Record<string, string> }} Execution */

/** Claim of a response about its run: it exists, it ended with a status, it doesn't exist, or no claim. */
const claimOf = (/** @type {Answered} */ { status, executionId, isUnknown }) => {
  if (status === 0 || isUnknown || status === 409) return "nothing";
  if (status === 200) return "completed";
  if (status === 202) return "runs";
  if (status === 500 && executionId !== null) return "failed";
  return "none";
};

const endedAt = (/** @type {Execution} */ { createdAt, durationMs }) => Date.parse(createdAt) + durationMs;

/**
 * False claims among the responses of one key, as sentences.
 * @param {readonly Answered[]} answers @param {readonly Execution[]} executions runs started with the key
 */
export const untruths = (answers, executions) => {
  const [execution] = executions;
  /** @type {string[]} */
  const problems = [];
  if (executions.length > 1) problems.push(`${executions.length} executions of one key`);
  const runIds = new Set(answers.flatMap((answer) => (["runs", "completed"].includes(claimOf(answer)) ? (answer.executionId ?? []) : [])));
  if (runIds.size > 1) problems.push(`one key got ${runIds.size} run ids`);
  for (const id of runIds)
    if (execution && id !== execution.executionId) problems.push(`the response named ${id}, but the run was ${execution.executionId}`);
  for (const answer of answers) {
    const claim = claimOf(answer);
    const answerText = `${answer.status}${answer.code === null ? "" : ` ${answer.code}`}`;
    if (claim === "runs" && !execution) problems.push(`${answerText}, and there is no run`);
    else if (claim === "runs" && execution && !FINAL.has(execution.status)) problems.push(`${answerText}, and the run does not end`);
    else if (claim === "completed" && execution?.status !== "completed")
      problems.push(`${answerText}, and the run is ${execution?.status ?? "not there"}`);
    else if (claim === "failed" && execution?.status !== "failed")
      problems.push(`${answerText}, and the run is ${execution?.status ?? "not there"}`);
    if (claim !== "none" || !execution) continue;
    // Another request with the key can have started the run meanwhile or afterwards.
    const others = answers.filter((other) => other !== answer && claimOf(other) !== "none");
    if (others.length === 0) problems.push(`${answerText}, and there is a run (${execution.status}, ${execution.creditsCost} credits)`);
    else if (Date.parse(execution.createdAt) < answer.sentAt && endedAt(execution) > answer.answeredAt)
      problems.push(`${answerText}, while the run of an earlier request with the key was under way`);
  }
  return problems;
};

/**
 * @param {readonly Answered[]} answered @param {readonly Execution[]} executions all runs that were started
 * @returns {{ untrue: string[], counts: Map<string, number> }}
 */
export const compare = (answered, executions) => {
  const counts = new Map();
  for (const { status, code, isUnknown } of answered) {
    const name = isUnknown ? "503 unknown" : `${status === 0 ? "no answer" : status}${code === null ? "" : ` ${code}`}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  /** @type {Map<string, { answers: Answered[], executions: Execution[] }>} */
  const byKey = new Map();
  const of = (/** @type {string} */ key) => {
    const group = byKey.get(key) ?? { answers: [], executions: [] };
    byKey.set(key, group);
    return group;
  };
  for (const answer of answered) of(answer.key).answers.push(answer);
  for (const execution of executions) of(execution.metadata?.chaos ?? "").executions.push(execution);
  const untrue = [...byKey].flatMap(([key, one]) => untruths(one.answers, one.executions).map((problem) => `${key}: ${problem}`));
  return { untrue, counts };
};
