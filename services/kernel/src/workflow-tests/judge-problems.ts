/** Checks judges when a workflow is saved. */
import type { Issue } from "../errors";
import { isRecord } from "../graph/types";
import { isCount, problemAt, textProblem, unknownMembers } from "./member-problems";
import { JUDGE_SCORES, TEST_BOUNDS, type Judge, type NamedVersion, type WorkflowTest } from "./types";

const JUDGE_MEMBERS = ["model", "rubric", "against", "atLeast", "votes"];
const VERSION_MEMBERS = ["version", "alias"];
const MAX_NAME_CHARS = 200;

const nameProblem = (value: unknown): string | undefined =>
  textProblem(value) ?? ((value as string).length > MAX_NAME_CHARS ? `must be at most ${MAX_NAME_CHARS} characters` : undefined);

const rubricProblem = (value: unknown): string | undefined =>
  textProblem(value) ??
  ([...(value as string)].length > TEST_BOUNDS.rubricChars ? `must be at most ${TEST_BOUNDS.rubricChars} characters` : undefined);

const againstIssues = (value: unknown, path: string): Issue[] => {
  if (!isRecord(value) || (value.version === undefined) === (value.alias === undefined))
    return [{ path, message: "must be an object with either version or alias" }];
  const { version, alias } = value;
  const isVersion = version === undefined || (Number.isSafeInteger(version) && (version as number) > 0);
  return [
    ...unknownMembers(value, VERSION_MEMBERS, path),
    ...(isVersion ? [] : [{ path: `${path}.version`, message: "must be the number of a published version" }]),
    ...(alias === undefined ? [] : problemAt(`${path}.alias`, nameProblem(alias))),
  ];
};

const scoreProblem = (atLeast: unknown, isPair: boolean): string | undefined => {
  const [least, most] = isPair ? [0, 1] : [JUDGE_SCORES[0], JUDGE_SCORES.at(-1)!];
  if (isCount(atLeast) && atLeast >= least && atLeast <= most) return undefined;
  return isPair ? "must be a share of votes from 0 to 1" : `must be a score from ${least} to ${most}`;
};

/** @param path of the member `judge` */
export const judgeIssues = (judge: unknown, path: string): Issue[] => {
  if (!isRecord(judge)) return [{ path, message: `must be an object of ${JUDGE_MEMBERS.join(", ")}` }];
  const { model, rubric, against, atLeast, votes = 1 } = judge;
  const isPair = against !== undefined;
  const isVotes = Number.isSafeInteger(votes) && (votes as number) >= 1 && (votes as number) <= TEST_BOUNDS.votes;
  return [
    ...unknownMembers(judge, JUDGE_MEMBERS, path),
    ...problemAt(`${path}.model`, nameProblem(model)),
    ...((rubric === undefined) === (against === undefined) ? [{ path, message: "must have either rubric or against" }] : []),
    ...(rubric === undefined ? [] : problemAt(`${path}.rubric`, rubricProblem(rubric))),
    ...(isPair ? againstIssues(against, `${path}.against`) : []),
    ...problemAt(`${path}.atLeast`, scoreProblem(atLeast, isPair)),
    ...(isVotes ? [] : [{ path: `${path}.votes`, message: `must be a whole number from 1 to ${TEST_BOUNDS.votes}` }]),
  ];
};

const comparisonsIn = (tests: readonly WorkflowTest[]): { judge: Judge; path: string }[] =>
  tests.flatMap(({ expect }, test) =>
    expect.flatMap(({ judge }, index) => (judge?.against ? [{ judge, path: `tests[${test}].expect[${index}].judge.against` }] : [])),
  );

/** The version that judges compare with; undefined if no judge compares. */
export const judgedVersion = (tests: readonly WorkflowTest[]): NamedVersion | undefined => comparisonsIn(tests)[0]?.judge.against;

/** A run of tests compares with one version, so all judges name the same. */
export const judgedVersionIssues = (tests: readonly WorkflowTest[]): Issue[] => {
  const nameOf = ({ version, alias }: NamedVersion): string => JSON.stringify([version, alias]);
  const [first, ...others] = comparisonsIn(tests);
  return others.flatMap(({ judge, path }) =>
    nameOf(judge.against!) === nameOf(first!.judge.against!)
      ? []
      : [{ path, message: `must be the version that ${first!.path} names: a run of tests compares with one version` }],
  );
};
