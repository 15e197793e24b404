import type { Command } from "commander";
import type { ErasureOrder } from "../api-types";
import { Refusal } from "./outcome";
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

interface EraseOptions {
  metadata?: string;
  workflow?: string;
  before?: string;
  dryRun?: true;
}

const selectionOf = (ids: string[], { metadata, workflow }: EraseOptions): ErasureOrder => {
  const at = metadata?.indexOf("=") ?? 0;
  if (metadata !== undefined && at < 1) throw new Refusal("--metadata must be name=value");
  return {
    ...(ids.length > 0 ? { executions: ids } : {}),
    ...(metadata === undefined ? {} : { metadata: { name: metadata.slice(0, at), value: metadata.slice(at + 1) } }),
    ...(workflow === undefined ? {} : { workflow }),
  };
};

const erase = async (ids: string[], { before, dryRun, ...by }: EraseOptions, terminal: Terminal): Promise<void> => {
  const order = { ...selectionOf(ids, by), ...(before === undefined ? {} : { before }), ...(dryRun ? { dryRun } : {}) };
  const created = await (await openClient()).erasures.create(order);
  terminal.value(created, `${created.matched} runs match; the erasure is ${created.erasureId ?? "not created"}`);
};

const show = async (id: string, terminal: Terminal): Promise<void> => {
  const erasure = await (await openClient()).erasures.get(id);
  terminal.value(erasure, `${erasure.state}: ${erasure.erased} of ${erasure.matched} erased, ${erasure.remaining} remaining`);
};

/** @param perform runs a command and sets the exit code */
export const addExecutionCommands = (program: Command, perform: (work: (terminal: Terminal) => Promise<void>) => Promise<void>): void => {
  const executions = program.command("executions").description("runs that were made");
  executions
    .command("delete")
    .argument("<ids...>", "of runs that are over")
    .description("deletes runs with their inputs, outputs and files; the key needs execution:delete")
    .action((ids: string[]) => perform((terminal) => remove(ids, terminal)));
  executions
    .command("erase")
    .argument("[ids...]", "of runs")
    .option("--metadata <name=value>", "all runs with this metadata, with their batches and kept files")
    .option("--workflow <slug>", "all runs of this workflow")
    .option("--before <time>", "only runs that were created earlier")
    .option("--dry-run", "only counts")
    .description("erases many runs with all their data; the key needs erasure:write")
    .action((ids: string[], options: EraseOptions) => perform((terminal) => erase(ids, options, terminal)));
  executions
    .command("erasure")
    .argument("<id>", "of an erasure")
    .description("shows the progress of an erasure")
    .action((id: string) => perform((terminal) => show(id, terminal)));
};
