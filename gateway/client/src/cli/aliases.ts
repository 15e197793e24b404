import type { Command } from "commander";
import type { Client } from "../client";
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
  const found = (await client.workflows.aliases(slug)).find((alias) => alias.name === name);
  if (!found?.version) throw new Refusal(`${slug} has no version under the alias ${name}`);
  return found.version;
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
  terminal.table(rows as unknown as Record<string, unknown>[], ["name", "version", "updatedAt"]);
};

/** @param perform runs a command and sets the exit code */
export const addAliasCommands = (
  program: Command,
  perform: (work: (terminal: Terminal) => Promise<void>) => Promise<void>,
  number: (text: string) => number,
): void => {
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
