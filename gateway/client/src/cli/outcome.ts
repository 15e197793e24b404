import { NodeloomError } from "../errors";

export const EXIT = {
  /** The run failed or was cancelled. */
  failed: 1,
  /** Wrong usage. */
  usage: 2,
  /** The service rejected the request. */
  refused: 3,
  /** The service couldn't be reached. */
  unreachable: 4,
  /** Ctrl-C. */
  interrupted: 130,
} as const;

/** An error of the command itself; the message says what to do. */
export class Refusal extends Error {
  constructor(
    message: string,
    readonly exitCode: number = EXIT.usage,
  ) {
    super(message);
  }
}

const RUN_FAILED = 500;

export const outcomeOf = (error: unknown): { exitCode: number; message: string } => {
  if (error instanceof Refusal) return { exitCode: error.exitCode, message: error.message };
  if (!(error instanceof NodeloomError)) return { exitCode: EXIT.failed, message: error instanceof Error ? error.message : String(error) };
  const { status, code, message, details, executionId } = error;
  const issues = Array.isArray(details.issues) ? (details.issues as { path?: string; nodeId?: string; message: string }[]) : [];
  const lines = [
    `${message}${code === undefined ? "" : ` (${code})`}`,
    ...issues
      .map(({ path, nodeId, message: issue }) => `${path ?? nodeId ?? ""}${(path ?? nodeId) ? ": " : ""}${issue}`)
      // Most messages consist of their issues.
      .filter((line) => !message.includes(line))
      .map((line) => `  ${line}`),
    ...(executionId === undefined ? [] : [`  execution ${executionId}`]),
  ];
  const exitCode = status === 0 ? EXIT.unreachable : status === RUN_FAILED && executionId !== undefined ? EXIT.failed : EXIT.refused;
  return { exitCode, message: lines.join("\n") };
};
