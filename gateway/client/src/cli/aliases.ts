import type { Client } from "../client";
import { printRows, type Commands } from "./command";
import { Refusal } from "./outcome";
import { openClient } from "./settings";
import type { Terminal } from "./terminal";

/** `nodeloom aliases` and `nodeloom promote`: list aliases, and move them to a version. */

const PRODUCTION = "production";

const MIN_RUNS = 50;

interface Promotion {
  from?: string;
  to?: string;
  version?: number;
  /** Percentage of the runs; false to end the canary. */
  canary?: number | false;
  minRuns?: number;
  maxCredits?: number;
}

/** The version that an alias points to. @throws Refusal if there is none */
const versionOf = async (client: Client, slug: string, name: string): Promise<number> => {
  const aliasRow = (await client.workflows.aliases(slug)).find((alias) => alias.name === name);
  if (!aliasRow?.version) throw new Refusal(`${slug} has no version under the alias ${name}`);
  return aliasRow.version;
};

/** Starts a canary of an alias that keeps its version. */
const startCanary = async (
  slug: string,
  version: number,
  { to = PRODUCTION, ...options }: Promotion,
  terminal: Terminal,
): Promise<void> => {
  const client = await openClient();
  const base = await versionOf(client, slug, to);
  const { canary: percent, minRuns = MIN_RUNS, maxCredits } = options;
  const canary = { version, percent: Number(percent), minRuns, ...(maxCredits === undefined ? {} : { maxCredits }) };
  const started = await client.workflows.setAlias(slug, to, { version: base, if: { version: base }, canary });
  terminal.note(`${percent} % of the runs of ${to} of ${slug} run version ${version}, until it is promoted or rolled back`);
  terminal.value(started, String(version));
};

const endCanary = async (slug: string, to: string, terminal: Terminal): Promise<void> => {
  const client = await openClient();
  const version = await versionOf(client, slug, to);
  const alias = await client.workflows.setAlias(slug, to, { version, if: { version }, canary: null });
  terminal.note(`all runs of ${to} of ${slug} run version ${version}`);
  terminal.value(alias, String(version));
};

const promote = async (slug: string, options: Promotion, terminal: Terminal): Promise<void> => {
  const { from, to = PRODUCTION, version, canary } = options;
  if (canary === undefined && (options.minRuns ?? options.maxCredits) !== undefined)
    throw new Refusal("give --canary with --min-runs and --max-credits");
  if (canary === false && (from ?? version) !== undefined) throw new Refusal("give --no-canary without --from and --version");
  if (canary === false) return endCanary(slug, to, terminal);
  if ((from === undefined) === (version === undefined)) throw new Refusal("give either --from or --version");
  const client = await openClient();
  const target = version ?? (await versionOf(client, slug, from!));
  if (canary !== undefined) return startCanary(slug, target, options, terminal);
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
    .option("--canary <percent>", "instead of moving the alias, sends this share of its runs to the version", number)
    .option("--no-canary", "ends the canary of the alias")
    .option("--min-runs <n>", `runs of the canary after which it is promoted (default: ${MIN_RUNS})`, number)
    .option("--max-credits <n>", "the most that the runs of the canary cost together", number)
    .action((slug: string, options: Promotion) => perform((terminal) => promote(slug, options, terminal)));
};
