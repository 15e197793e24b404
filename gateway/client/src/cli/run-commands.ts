import { printRows, type Commands } from "./command";
import { saveFiles } from "./results";
import { follow, run, type RunOptions } from "./run";
import { openClient } from "./settings";

/** `nodeloom run`, `watch`, `models` and `usage`. */

export const addRunCommands = ({ program, perform, number }: Commands): void => {
  program
    .command("run")
    .argument("<target>", "a workflow's slug, or model:<name>")
    .argument("[inputs...]", "name=text, name=@file, name:=json")
    .description("prices a run, runs it, shows its progress; Ctrl-C cancels it")
    .option("-o, --output <path>", "save its file there; a folder (ending with /) takes all")
    .option("--quote", "print the price, and run nothing")
    .option("--max-credits <n>", "refuse a run that could cost more", number)
    .option("--until <node>", "run only that node of a workflow and what it needs")
    .option("--alias <name>", "run the version of this alias, such as staging")
    .option("--idempotency-key <key>", "the same key and inputs run once")
    .option("--webhook <url>", "send the end of the run there")
    .option("--webhook-events <list>", "events for --webhook, such as execution.completed,execution.waiting")
    .action((target: string, inputs: string[], options: RunOptions) =>
      perform(async (terminal) => run(await openClient(), target, inputs, options, terminal)),
    );

  program
    .command("watch")
    .argument("<execution>", "an execution's id")
    .description("follows a run to its end")
    .option("-o, --output <path>", "save its files there")
    .action((executionId: string, { output }: { output?: string }) =>
      perform(async (terminal) => {
        const outcome = await follow(await openClient(), executionId, terminal);
        terminal.result(outcome, output === undefined ? [] : await saveFiles(outcome.result, output));
      }),
    );

  program
    .command("models")
    .description("lists the models that you can run")
    .action(() =>
      perform(async (terminal) => {
        const rows = await (await openClient()).models.list();
        printRows(terminal, rows, ["internalName", "modality", "status", "displayName"]);
      }),
    );

  program
    .command("usage")
    .description("lists your newest runs and what they cost")
    .option("--limit <n>", "how many", number, 20)
    .action(({ limit }: { limit: number }) =>
      perform(async (terminal) => {
        const { rows } = await (await openClient()).usage.list({ limit });
        printRows(terminal, rows, ["createdAt", "modelIds", "status", "creditsCost"]);
      }),
    );
};
