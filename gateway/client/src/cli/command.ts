import type { Command } from "commander";
import type { Terminal } from "./terminal";

/** What files of commands share. */

/** Runs a command, and makes how it ended the exit code. */
export type Perform = (work: (terminal: Terminal) => Promise<number | void>) => Promise<void>;

export interface Commands {
  program: Command;
  perform: Perform;
  /** Parses an option that is a number from 0. */
  number: (text: string) => number;
}

/** Prints rows of the API as a table. */
export const printRows = (terminal: Terminal, rows: readonly object[], columns: readonly string[]): void =>
  terminal.table(rows as readonly Readonly<Record<string, unknown>>[], columns);

/** Commands without commands of their own, with their full names, such as `workflows pull`. */
export const leavesOf = (command: Command, name = ""): { name: string; command: Command }[] =>
  command.commands.flatMap((one) => {
    const full = `${name} ${one.name()}`.trim();
    return one.commands.length > 0 ? leavesOf(one, full) : [{ name: full, command: one }];
  });
