import type { Command } from "commander";
import { openClient } from "./settings";
import type { Terminal } from "./terminal";

/** `nodeloom executions`: runs by their ids. */

const remove = async (ids: readonly string[], terminal: Terminal): Promise<void> => {
  const client = await openClient();
  for (const id of ids) {
    await client.executions.delete(id);
    terminal.note(`deleted ${id}; its data is removed within 10 minutes`);
  }
};

/** @param perform runs a command and makes how it ended the exit code */
export const addExecutionCommands = (program: Command, perform: (work: (terminal: Terminal) => Promise<void>) => Promise<void>): void => {
  const executions = program.command("executions").description("runs that were made");
  executions
    .command("delete")
    .argument("<ids...>", "of runs that are over")
    .description("deletes runs with their inputs, outputs and files; the key needs execution:delete")
    .action((ids: string[]) => perform((terminal) => remove(ids, terminal)));
};
