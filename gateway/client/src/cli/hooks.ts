import type { NewHook } from "../api-types";
import { printRows, type Commands } from "./command";
import { Refusal } from "./outcome";
import { openClient } from "./settings";
import type { Terminal } from "./terminal";

/** `nodeloom hook`: addresses at which other services start a workflow. */

interface HookOptions {
  expression: string;
  maxCredits?: number;
  alias?: string;
  signatureHeader?: string;
  deliveryIdHeader?: string;
}

const COLUMNS = ["id", "workflowSlug", "start", "expression", "alias", "maxCredits"];
/** The secret of signed deliveries. As an argument, other users of the machine could see it. */
const SECRET = "NODELOOM_HOOK_SECRET";

const settingsOf = ({ expression, maxCredits, alias, signatureHeader, deliveryIdHeader }: HookOptions): NewHook => {
  if (maxCredits === undefined) throw new Refusal("--max-credits is required: everyone who has the address can start runs");
  const secret = process.env[SECRET];
  if ((signatureHeader === undefined) !== (secret === undefined))
    throw new Refusal(`signed deliveries need both --signature-header and the variable ${SECRET}`);
  return {
    ...{ expression, maxCredits },
    ...(alias === undefined ? {} : { alias }),
    ...(signatureHeader === undefined || secret === undefined ? {} : { hmac: { header: signatureHeader, secret } }),
    ...(deliveryIdHeader === undefined ? {} : { deliveryIdHeader }),
  };
};

const create = async (slug: string, options: HookOptions, terminal: Terminal): Promise<void> => {
  const body = settingsOf(options);
  const hook = await (await openClient()).hooks.create(slug, body);
  terminal.note(`created the hook ${hook.id}; its address is shown only now`);
  terminal.value(hook, hook.url);
};

export const addHookCommands = ({ program, perform, number }: Commands): void => {
  const hook = program.command("hook").description("addresses at which other services start a workflow");
  hook
    .command("list")
    .argument("[workflow]", "its slug")
    .description("lists the hooks of a workflow, or of all workflows")
    .action((slug: string | undefined) =>
      perform(async (terminal) => printRows(terminal, await (await openClient()).hooks.list(slug), COLUMNS)),
    );
  hook
    .command("create")
    .argument("<workflow>", "its slug")
    .option("--expression <jmespath>", "turns the JSON body into the inputs; without it, the body is the inputs", "")
    .option("--max-credits <n>", "the most that each run can cost; required", number)
    .option("--alias <name>", "run the version of this alias")
    .option("--signature-header <name>", `header with the signature of each delivery; its secret is in ${SECRET}`)
    .option("--delivery-id-header <name>", "header with the id of each delivery, so that a repeated one starts nothing")
    .description("adds a hook and prints its address")
    .action((slug: string, options: HookOptions) => perform((terminal) => create(slug, options, terminal)));
  hook
    .command("delete")
    .argument("<workflow>", "its slug")
    .argument("<id>", "of the hook")
    .description("revokes a hook at once")
    .action((slug: string, id: string) =>
      perform(async (terminal) => {
        await (await openClient()).hooks.delete(slug, id);
        terminal.note(`deleted ${id}`);
      }),
    );
};
