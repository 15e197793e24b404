import type { Batch } from "../api-types";
import type { BatchTarget } from "../batches";
import { readArgument, targetOf } from "./arguments";
import { printRows, type Commands } from "./command";
import { EXIT } from "./outcome";
import { openClient } from "./settings";
import type { Terminal } from "./terminal";

/** `nodeloom batch`: many runs of one workflow or model from a table. */

interface BatchOptions {
  alias?: string;
  maxCredits?: number;
  concurrency?: number;
  stopOnError?: true;
  detach?: true;
}

const summaryOf = ({ batchId, status, total, counts, creditsCost, reason }: Batch): string =>
  `${batchId} ${status}: ${counts.completed} of ${total} completed, ${counts.failed} failed; ${creditsCost} credits${reason ? `; ${reason.message}` : ""}`;

/** Exit code 1 unless every item completed. */
const codeOf = ({ status, counts }: Batch): number => (status === "completed" && counts.failed === 0 ? 0 : EXIT.failed);

const create = async (name: string, file: string, options: BatchOptions, terminal: Terminal): Promise<number> => {
  const target: BatchTarget = targetOf(name, { alias: options.alias });
  const bytes = await readArgument(file);
  const client = await openClient();
  const { id } = await client.upload(bytes);
  const created = await client.batches.create(target, {
    mediaId: id,
    ...(options.maxCredits === undefined ? {} : { maxCredits: options.maxCredits }),
    ...(options.concurrency === undefined ? {} : { concurrency: options.concurrency }),
    ...(options.stopOnError ? { onError: "stop" as const } : {}),
  });
  const { batchId, total } = created;
  terminal.note(`started ${total} runs as ${batchId}`);
  if (options.detach) {
    terminal.value(created, batchId);
    return 0;
  }
  const onPoll = ({ counts }: Batch): void => terminal.note(`  ${counts.completed + counts.failed + counts.cancelled} of ${total} ended`);
  const batch = await client.batches.wait(batchId, { onPoll });
  terminal.value(batch, summaryOf(batch));
  return codeOf(batch);
};

const results = async (batchId: string, terminal: Terminal): Promise<void> => {
  const rows = [];
  for await (const row of (await openClient()).batches.results(batchId)) rows.push(row);
  printRows(terminal, rows, ["index", "status", "creditsCost", "result", "error"]);
};

const list = async (limit: number, terminal: Terminal): Promise<void> => {
  const { rows } = await (await openClient()).batches.list({ limit });
  printRows(terminal, rows, ["batchId", "status", "workflowSlug", "model", "total", "creditsCost", "createdAt"]);
};

export const addBatchCommands = ({ program, perform, number }: Commands): void => {
  const batch = program.command("batch").description("many runs of one workflow or model");
  batch
    .command("run")
    .argument("<target>", "a workflow's slug, or model:<name>")
    .argument("<file>", "a CSV or JSONL file with the inputs of one run in each row")
    .option("--alias <name>", "run the version of this alias, such as staging")
    .option("--max-credits <n>", "pause the batch when its runs have cost this much", number)
    .option("--concurrency <n>", "runs at the same time", number)
    .option("--stop-on-error", "stop at the first run that fails")
    .option("--detach", "print the id of the batch and don't wait")
    .description("starts a batch and waits for its end; exit code 1 unless every run completed")
    .action((target: string, file: string, options: BatchOptions) => perform((terminal) => create(target, file, options, terminal)));
  batch
    .command("list")
    .option("--limit <n>", "how many", number, 20)
    .description("lists your newest batches")
    .action(({ limit }: { limit: number }) => perform((terminal) => list(limit, terminal)));
  batch
    .command("results")
    .argument("<id>", "of a batch")
    .description("lists the rows of a batch with their results")
    .action((id: string) => perform((terminal) => results(id, terminal)));
  batch
    .command("cancel")
    .argument("<id>", "of a batch")
    .description("cancels a batch and its runs")
    .action((id: string) =>
      perform(async (terminal) => {
        const cancelled = await (await openClient()).batches.cancel(id);
        terminal.value(cancelled, summaryOf(cancelled));
      }),
    );
  batch
    .command("resume")
    .argument("<id>", "of a paused batch")
    .option("--max-credits <n>", "the new limit", number)
    .description("continues a paused batch")
    .action((id: string, { maxCredits }: { maxCredits?: number }) =>
      perform(async (terminal) => {
        const resumed = await (await openClient()).batches.resume(id, maxCredits);
        terminal.value(resumed, summaryOf(resumed));
      }),
    );
};
