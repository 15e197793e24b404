import type { Client } from "../client";
import { printRows, type Commands } from "./command";
import { Refusal } from "./outcome";
import { openClient } from "./settings";
import type { Terminal } from "./terminal";

/** `nodeloom aliases` and `nodeloom promote`: list aliases, and move them to a version. */

const PRODUCTION = "production";

interface Promotion {
  from?: string;
  to?: string;
  version?: number;
}

/** The version that an alias points to. @throws Refusal if there is none */
const versionOf = async (client: Client, slug: string, name: string): Promise<number> => {
  const aliasRow = (await client.workflows.aliases(slug)).find((alias) => alias.name === name);
  if (!aliasRow?.version) throw new Refusal(`${slug} has no version under the alias ${name}`);
  return aliasRow.version;
};

const promote = async (slug: string, { from, to = PRODUCTION, version }: Promotion, terminal: Terminal): Promise<void> => {
  if ((from === undefined) === (version === undefined)) throw new Refusal("give either --from or --version");
  const client = await openClient();
  const target = version ?? (await versionOf(client, slug, from!));
  const moved = await client.workflows.setAlias(slug, to, { version: target });
  terminal.note(`${to} of ${slug} runs version ${target}`);
  terminal.value(moved, String(target));
};

const list = async (slug: string, terminal: Terminal): Promise<void> => {
  const rows = await (await openClient()).workflows.aliases(slug);
  printRows(terminal, rows, ["name", "version", "updatedAt"]);
};

const publish = async (slug: string, note: string | undefined, terminal: Terminal): Promise<void> => {
  const published = await (await openClient()).workflows.publish(slug, note);
  terminal.note(`published version ${published.version} of ${slug}`);
  terminal.value(published, String(published.version));
};

export const addAliasCommands = ({ program, perform, number }: Commands): void => {
  program
    .command("publish")
    .argument("<workflow>", "its slug")
    .option("--note <text>", "what changed")
    .description("publishes the draft as the next version and prints its number")
    .action((slug: string, { note }: { note?: string }) => perform((terminal) => publish(slug, note, terminal)));
  program
    .command("aliases")
    .argument("<workflow>", "its slug")
    .description("lists the aliases of a workflow and their versions")
    .action((slug: string) => perform((terminal) => list(slug, terminal)));
  program
    .command("promote")
    .argument("<workflow>", "its slug")
    .description("points an alias to a published version: promotes it, or rolls back")
    .option("--from <alias>", "the version of this alias, such as staging")
    .option("--version <n>", "this version", number)
    .option("--to <alias>", "the alias that moves", PRODUCTION)
    .action((slug: string, options: Promotion) => perform((terminal) => promote(slug, options, terminal)));
};
