import { printRows, type Commands } from "./command";
import { Refusal } from "./outcome";
import { withPrompt } from "./prompt";
import { openClient } from "./settings";
import type { Terminal } from "./terminal";

/** `nodeloom secrets`: values that HTTP nodes send. */

interface SecretOptions {
  host: string[];
  alias?: string;
  workflow?: string[];
}

const set = async (name: string, { host, alias, workflow }: SecretOptions, terminal: Terminal): Promise<void> => {
  const value = await withPrompt(async (ask) => (await ask({ label: "Value: ", isSecret: true })).trim());
  if (value === "") throw new Refusal("the value is empty: type it, or send it on stdin");
  const body = { value, hosts: host, ...(alias === undefined ? {} : { alias }), ...(workflow ? { workflows: workflow } : {}) };
  const { body: stored } = await (await openClient()).request("putSecret", { params: { name }, body });
  terminal.note(`set ${name} for ${host.join(", ")}, sent by ${workflow?.join(", ") ?? "all workflows"}`);
  terminal.value(stored, name);
};

export const addSecretCommands = ({ program, perform }: Commands): void => {
  const secrets = program.command("secrets").description("values that HTTP nodes send; the key needs secrets:write");
  secrets
    .command("list")
    .description("lists secrets, without their values")
    .action(() =>
      perform(async (terminal) => {
        const { body } = await (await openClient()).request("listSecrets", {});
        if (!body.configured) terminal.note("this installation can't store secrets: its operator sets SECRETS_KEYS");
        printRows(terminal, body.secrets, ["name", "alias", "hosts", "workflows", "updatedAt"]);
      }),
    );
  secrets
    .command("set")
    .argument("<name>", "such as SHOP_TOKEN")
    .requiredOption("--host <hosts...>", "hosts that can receive it")
    .option("--alias <name>", "only runs by this alias send this value")
    .option("--workflow <slugs...>", "only nodes of these workflows can send it; without it, all workflows")
    .description("stores a value, from the prompt or stdin")
    .action((name: string, options: SecretOptions) => perform((terminal) => set(name, options, terminal)));
  secrets
    .command("delete")
    .argument("<name>")
    .option("--alias <name>", "only the value for this alias")
    .description("deletes a secret")
    .action((name: string, { alias }: { alias?: string }) =>
      perform(async (terminal) => {
        const query = alias === undefined ? {} : { alias };
        await (await openClient()).request("deleteSecret", { params: { name }, query });
        terminal.note(`deleted ${name}`);
      }),
    );
};
