import { Option } from "commander";
import type { Budget } from "../api-types";
import { metadataOf } from "./arguments";
import { printRows, type Commands } from "./command";
import { Refusal } from "./outcome";
import { openClient } from "./settings";
import type { Terminal } from "./terminal";

/** `nodeloom budgets`: credits that a key, a workflow or a customer can use. */

interface BudgetOptions {
  key?: string;
  workflow?: string;
  metadata?: string;
  window: Budget["window"];
}

const WINDOWS = ["day", "week", "month", "total"];

const set = async (credits: number, { key, workflow, metadata, window }: BudgetOptions, terminal: Terminal): Promise<void> => {
  if ([key, workflow, metadata].filter((one) => one !== undefined).length !== 1)
    throw new Refusal("give one of --key, --workflow and --metadata");
  const client = await openClient();
  const body = { credits, window };
  const { body: budget } =
    key !== undefined
      ? await client.request("setKeyBudget", { params: { id: key }, body })
      : workflow !== undefined
        ? await client.request("setWorkflowBudget", { params: { slug: workflow }, body })
        : await client.request("setMetadataBudget", { body: { ...body, metadata: metadataOf(metadata!) } });
  terminal.value(budget, budget.id);
};

const ownerOf = ({ keyId, workflowSlug, metadata }: Budget): string =>
  keyId ?? workflowSlug ?? (metadata ? `${metadata.name}=${metadata.value}` : "");

export const addBudgetCommands = ({ program, perform, number }: Commands): void => {
  const budgets = program
    .command("budgets")
    .description("credits that a key, a workflow or a customer can use; changes need budgets:write, the list usage:read");
  budgets
    .command("list")
    .description("lists budgets and what they have used")
    .action(() =>
      perform(async (terminal) => {
        const { body } = await (await openClient()).request("listBudgets", {});
        const rows = body.map((budget) => ({ ...budget, owner: ownerOf(budget) }));
        printRows(terminal, rows, ["id", "scope", "owner", "credits", "window", "used"]);
      }),
    );
  budgets
    .command("set")
    .argument("<credits>", "that runs can use in a window; 0 forbids paid runs", number)
    .option("--key <id>", "of this API key")
    .option("--workflow <slug>", "of this workflow")
    .option("--metadata <name=value>", "of runs with this metadata; the value * is the default for all values")
    .addOption(new Option("--window <window>", "when it starts again").choices(WINDOWS).default("month"))
    .description("sets a budget and prints its id")
    .action((credits: number, options: BudgetOptions) => perform((terminal) => set(credits, options, terminal)));
  budgets
    .command("delete")
    .argument("<id>", "of a budget")
    .description("deletes a budget")
    .action((id: string) =>
      perform(async (terminal) => {
        await (await openClient()).request("deleteBudget", { params: { id } });
        terminal.note(`deleted ${id}`);
      }),
    );
};
