import { execFileSync } from "node:child_process";
import { pathToFileURL } from "node:url";
import { ROOT } from "../paths.mjs";

const TYPES = ["feat", "fix", "refactor", "perf", "docs", "test", "build", "ci", "chore", "revert"];
const FORM = new RegExp(`^(?:${TYPES.join("|")})(?:\\([a-z0-9/,-]+\\))?!?: \\S`);
const MOST_CHARS = 72;

/** Subjects that git and the hosting site write. */
const WRITTEN_BY_GIT = /^(?:Merge |Revert "|fixup! |squash! )/;

/** GitHub's name for the commit before the first push of a branch. */
const NO_COMMIT = /^0+$/;

/** @param {string} subject @returns {string | undefined} the rule that the subject breaks (docs/contribute/conventions.md) */
export const subjectProblem = (subject) => {
  if (WRITTEN_BY_GIT.test(subject)) return undefined;
  if (!FORM.test(subject)) return `must be "type(scope): subject" with a type of ${TYPES.join(", ")}`;
  if ([...subject].length > MOST_CHARS) return `must have at most ${MOST_CHARS} characters, and has ${[...subject].length}`;
  return subject.endsWith(".") ? "must not end with a full stop" : undefined;
};

/** @param {string} range such as `main..HEAD` @returns {string[]} a line for each subject that breaks a rule */
export const problemsOf = (range) => {
  const [from = "", to = "HEAD"] = range.split("..");
  const args = NO_COMMIT.test(from) ? ["-1", to] : [range];
  return execFileSync("git", ["log", "--format=%h %s", ...args], { cwd: ROOT, encoding: "utf8" })
    .split("\n")
    .filter(Boolean)
    .flatMap((line) => {
      const problem = subjectProblem(line.slice(line.indexOf(" ") + 1));
      return problem === undefined ? [] : [`${line}: ${problem}`];
    });
};

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const problems = problemsOf(process.argv[2] ?? "origin/main..HEAD");
  if (problems.length > 0) {
    process.stderr.write(`${problems.join("\n")}\n`);
    process.exitCode = 1;
  }
}
