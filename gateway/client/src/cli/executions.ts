import { Option } from "commander";
import type { ErasureOrder, Execution } from "../api-types";
import type { ExecutionsQuery } from "../client";
import { metadataOf } from "./arguments";
import { printRows, type Commands } from "./command";
import { EXIT, Refusal } from "./outcome";
import { openClient } from "./settings";
import type { Terminal } from "./terminal";

/** `nodeloom executions` and `nodeloom logs`: runs by their ids. */

const STATUSES = ["processing", "completed", "failed", "cancelled", "cancel_requested"] as const satisfies Execution["status"][];
const FINAL: ReadonlySet<string> = new Set<Execution["status"]>(["completed", "failed", "cancelled"]);

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

const selectionOf = (ids: string[], { metadata, workflow }: EraseOptions): ErasureOrder => ({
  ...(ids.length > 0 ? { executions: ids } : {}),
  ...(metadata === undefined ? {} : { metadata: metadataOf(metadata) }),
  ...(workflow === undefined ? {} : { workflow }),
});

const erase = async (ids: string[], { before, dryRun, ...by }: EraseOptions, terminal: Terminal): Promise<void> => {
  const order = { ...selectionOf(ids, by), ...(before === undefined ? {} : { before }), ...(dryRun ? { dryRun } : {}) };
  const created = await (await openClient()).erasures.create(order);
  terminal.value(created, `${created.matched} runs match; the erasure is ${created.erasureId ?? "not created"}`);
};

const show = async (id: string, terminal: Terminal): Promise<void> => {
  const erasure = await (await openClient()).erasures.get(id);
  terminal.value(erasure, `${erasure.state}: ${erasure.erased} of ${erasure.matched} erased, ${erasure.remaining} remaining`);
};

const listErasures = async ({ limit }: Pick<ListOptions, "limit">, terminal: Terminal): Promise<void> => {
  const { rows } = await (await openClient()).erasures.list({ limit });
  printRows(terminal, rows, ["erasureId", "state", "by", "metadataName", "matched", "erased", "remaining", "createdAt"]);
};

interface ListOptions {
  workflow?: string;
  status?: Execution["status"];
  metadata?: string;
  limit: number;
}

const metadataFilter = (text: string): Pick<ExecutionsQuery, `metadata.${string}`> => {
  const { name, value } = metadataOf(text);
  return { [`metadata.${name}`]: value };
};

const list = async ({ workflow, status, metadata, limit }: ListOptions, terminal: Terminal): Promise<void> => {
  const query = {
    limit,
    ...(workflow === undefined ? {} : { workflowSlug: workflow }),
    ...(status === undefined ? {} : { status }),
    ...(metadata === undefined ? {} : metadataFilter(metadata)),
  };
  const { rows } = await (await openClient()).executions.list(query);
  printRows(terminal, rows, ["executionId", "status", "workflowSlug", "creditsCost", "durationMs", "createdAt"]);
};

const showRun = async (id: string, terminal: Terminal): Promise<void> => {
  const execution = await (await openClient()).executions.get(id);
  terminal.value(execution, JSON.stringify(execution, null, 2));
};

/** Prints the events of a run. Those of a run that is under way end with it. */
const logs = async (id: string, isFollowing: boolean, terminal: Terminal): Promise<number | void> => {
  const client = await openClient();
  const { status } = await client.executions.get(id);
  if (!isFollowing && !FINAL.has(status)) throw new Refusal(`the run is ${status}: follow it to its end with \`nodeloom logs -f ${id}\``);
  let finalStatus = "completed";
  for await (const { id: number, type, at, data } of client.events(id)) {
    terminal.value({ id: number, type, at, data }, `${at} ${type} ${JSON.stringify(data)}`);
    if (type === "settled") finalStatus = data.status ?? finalStatus;
  }
  if (finalStatus !== "completed") return EXIT.failed;
};

export const addExecutionCommands = ({ program, perform, number }: Commands): void => {
  program
    .command("logs")
    .argument("<execution>", "an execution's id")
    .option("-f, --follow", "follow a run that is under way to its end")
    .description("prints the events of a run, with times; exit code 1 if it failed or was cancelled")
    .action((id: string, { follow = false }: { follow?: boolean }) => perform((terminal) => logs(id, follow, terminal)));
  const executions = program.command("executions").description("runs that were made");
  executions
    .command("list")
    .option("--workflow <slug>", "only runs of this workflow")
    .addOption(new Option("--status <status>", "only runs with this status").choices(STATUSES))
    .option("--metadata <name=value>", "only runs with this metadata")
    .option("--limit <n>", "how many", number, 20)
    .description("lists your newest runs")
    .action((options: ListOptions) => perform((terminal) => list(options, terminal)));
  executions
    .command("show")
    .argument("<id>", "of a run")
    .description("prints a run as JSON: status, nodes, result, cost")
    .action((id: string) => perform((terminal) => showRun(id, terminal)));
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
  executions
    .command("erasures")
    .option("--limit <n>", "how many", number, 20)
    .description("lists erasures, newest first; the key needs erasure:write")
    .action((options: Pick<ListOptions, "limit">) => perform((terminal) => listErasures(options, terminal)));
};
