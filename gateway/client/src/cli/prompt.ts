import { createInterface } from "node:readline";
import { Writable } from "node:stream";

/** What is asked of a person; on a pipe, the next line. */
export interface Question {
  label: string;
  /** Not shown while it is typed. */
  isSecret: boolean;
}

/** Asks one question, on stderr. @returns what was answered; empty where stdin has ended */
export type Ask = (question: Question) => Promise<string>;

/** Asks what a piece of work needs to know. */
export const withPrompt = async <T>(work: (ask: Ask) => Promise<T>): Promise<T> => {
  let isShown = true;
  const echo = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      if (isShown) process.stderr.write(chunk);
      done();
    },
  });
  const isTerminal = process.stdin.isTTY === true;
  const lines = createInterface({ input: process.stdin, output: echo, terminal: isTerminal });
  const given = lines[Symbol.asyncIterator]();
  try {
    return await work(async ({ label, isSecret }) => {
      process.stderr.write(label);
      isShown = !isSecret;
      const { done, value } = await given.next();
      // The line's end was not shown either.
      if (isSecret && isTerminal) process.stderr.write("\n");
      return done ? "" : value;
    });
  } finally {
    lines.close();
  }
};
