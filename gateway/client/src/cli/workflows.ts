import { printRows, type Commands } from "./command";
import { importFiles } from "./import";
import { openClient } from "./settings";
import { diff, pull, push } from "./workflow-files";

/** `nodeloom workflows`: saved workflows, also as files. */

export const addWorkflowCommands = ({ program, perform }: Commands): void => {
  const workflows = program.command("workflows").description("saved workflows, also as files");
  workflows
    .command("list")
    .description("lists your workflows and templates")
    .action(() =>
      perform(async (terminal) => {
        const rows = await (await openClient()).workflows.list();
        printRows(terminal, rows, ["slug", "name", "estimatedCreditCost", "updatedAt"]);
      }),
    );
  workflows
    .command("pull")
    .argument("[slugs...]", "all of yours when none is given")
    .option("-d, --dir <folder>", "where the files are", ".")
    .description("writes workflows to <slug>.json")
    .action((slugs: string[], { dir }: { dir: string }) => perform(async (terminal) => pull(await openClient(), slugs, dir, terminal)));
  workflows
    .command("push")
    .argument("<files...>")
    .option("--force", "also where the workflow has changed since it was pulled")
    .description("saves files as the workflows of their names")
    .action((files: string[], { force = false }: { force?: boolean }) =>
      perform(async (terminal) => push(await openClient(), files, force, terminal)),
    );
  workflows
    .command("import")
    .argument("<files...>", "JSON files of ComfyUI, or PNG and WebP files that it saved")
    .description("creates workflows from those of ComfyUI")
    .action((files: string[]) => perform(async (terminal) => importFiles(await openClient(), files, terminal)));
  workflows
    .command("diff")
    .argument("<files...>")
    .description("says in what files and their workflows differ; exit code 1 where they do")
    .action((files: string[]) => perform(async (terminal) => ((await diff(await openClient(), files, terminal)) ? 1 : 0)));
};
