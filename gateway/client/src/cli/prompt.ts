import { createInterface } from "node:readline";
import { Writable } from "node:stream";

/** A question on a terminal. With a pipe, the next line is the answer. */
export interface Question {
  label: string;
  /** Hides the answer while it is typed. */
  isSecret: boolean;
}

/** Asks one question on stderr. @returns the answer; empty if stdin has ended */
export type Ask = (question: Question) => Promise<string>;

export const withPrompt = async <T>(work: (ask: Ask) => Promise<T>): Promise<T> => {
  let isShown = true;
  const echo = new Writable({
    write: (chunk: Buffer, _encoding, callback) => {
      if (isShown) process.stderr.write(chunk);
      callback();
    },
  });
  const isTerminal = process.stdin.isTTY === true;
  const lines = createInterface({ input: process.stdin, output: echo, terminal: isTerminal });
  const lineIterator = lines[Symbol.asyncIterator]();
  try {
    return await work(async ({ label, isSecret }) => {
      process.stderr.write(label);
      isShown = !isSecret;
      const { done, value } = await lineIterator.next();
      // The line break after a hidden answer isn't shown either.
      if (isSecret && isTerminal) process.stderr.write("\n");
      return done ? "" : value;
    });
  } finally {
    lines.close();
  }
};
