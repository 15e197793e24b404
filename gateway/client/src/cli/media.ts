import { extname } from "node:path";
import { readArgument } from "./arguments";
import { printRows, type Commands } from "./command";
import { download } from "./results";
import { openClient } from "./settings";
import type { Terminal } from "./terminal";

/** `nodeloom media`: stored files. */

const upload = async (files: readonly string[], terminal: Terminal): Promise<void> => {
  const client = await openClient();
  for (const file of files) {
    const stored = await client.upload(await readArgument(file));
    terminal.value(stored, stored.id);
  }
};

const save = async (id: string, output: string | undefined, terminal: Terminal): Promise<void> => {
  const file = await (await openClient()).media.get(id);
  const path = output ?? `${id}${extname(new URL(file.url).pathname)}`;
  await download(file.url, path);
  terminal.value({ ...file, path }, path);
};

export const addMediaCommands = ({ program, perform, number }: Commands): void => {
  const media = program.command("media").description("stored files");
  media
    .command("list")
    .option("--limit <n>", "how many", number, 20)
    .description("lists your newest files")
    .action(({ limit }: { limit: number }) =>
      perform(async (terminal) => {
        const { rows } = await (await openClient()).media.list({ limit });
        printRows(terminal, rows, ["id", "contentType", "bytes", "origin", "kept", "createdAt"]);
      }),
    );
  media
    .command("upload")
    .argument("<files...>")
    .description("stores files and prints their ids, which are inputs of runs")
    .action((files: string[]) => perform((terminal) => upload(files, terminal)));
  media
    .command("download")
    .argument("<id>", "of a file")
    .option("-o, --output <path>", "save it there")
    .description("saves a file and prints its path")
    .action((id: string, { output }: { output?: string }) => perform((terminal) => save(id, output, terminal)));
  media
    .command("keep")
    .argument("<id>", "of a generated file")
    .description("keeps a generated file until you delete it")
    .action((id: string) =>
      perform(async (terminal) => {
        const keptMedia = await (await openClient()).media.keep(id);
        terminal.value(keptMedia, `kept ${id}`);
      }),
    );
  media
    .command("delete")
    .argument("<ids...>", "of files")
    .description("deletes files")
    .action((ids: string[]) =>
      perform(async (terminal) => {
        const client = await openClient();
        for (const id of ids) {
          await client.media.delete(id);
          terminal.note(`deleted ${id}`);
        }
      }),
    );
};
