import type { Operations } from "../api-types";
import { printRows, type Commands } from "./command";
import { Refusal } from "./outcome";
import { withSession } from "./session";
import type { Terminal } from "./terminal";

/** `nodeloom keys`: owners create and revoke API keys after signing in with a password. */

type NewKey = Operations["createKey"]["body"];

interface Creation {
  preset?: string;
  capability?: string[];
  expires?: string;
}

const create = async (name: string, { preset, capability, expires }: Creation, terminal: Terminal): Promise<void> => {
  if ((preset === undefined) === (capability === undefined)) throw new Refusal("give either --preset or --capability");
  const grants = preset === undefined ? { capabilities: capability } : { preset };
  const body = { name, ...grants, ...(expires === undefined ? {} : { expiresAt: expires }) } as NewKey;
  const key = await withSession(async (client) => (await client.request("createKey", { body })).body);
  terminal.note(`made ${key.id}; the key is shown this once`);
  for (const warning of key.warnings ?? []) terminal.note(warning);
  terminal.value(key, key.key);
};

const list = async (terminal: Terminal): Promise<void> => {
  const rows = await withSession(async (client) => (await client.request("listKeys", {})).body);
  printRows(terminal, rows, ["id", "name", "start", "capabilities", "lastUsedAt", "expiresAt"]);
};

const requests = async (id: string, status: string | undefined, terminal: Terminal): Promise<void> => {
  const query = status === undefined ? {} : { status };
  const { rows } = await withSession(async (client) => (await client.request("listKeyRequests", { params: { id }, query })).body);
  printRows(terminal, rows, ["at", "method", "route", "status", "durationMs", "errorCode", "requestId", "executionId"]);
};

const revoke = async (id: string, terminal: Terminal): Promise<void> => {
  await withSession((client) => client.request("revokeKey", { params: { id } }));
  terminal.note(`revoked ${id}`);
};

const rotate = async (id: string, graceSeconds: number, terminal: Terminal): Promise<void> => {
  const key = await withSession(async (client) => (await client.request("rotateKey", { params: { id }, body: { graceSeconds } })).body);
  terminal.note(`replaced ${id}; the key is shown this once`);
  terminal.value(key, key.key);
};

export const addKeyCommands = ({ program, perform, number }: Commands): void => {
  const keys = program
    .command("keys")
    .description("your API keys; asks for your e-mail address and password, since no key may make another");
  keys
    .command("list")
    .description("lists them, without their values")
    .action(() => perform(list));
  keys
    .command("create")
    .argument("<name>")
    .option("--preset <name>", "read-only, workflow-deploy, webhook-receiver or full-deploy")
    .option("--capability <capabilities...>", "such as workflow:run, or workflow:<slug>:run")
    .option("--expires <time>", "such as 2027-05-04T12:00:00Z")
    .description("makes one and prints it, this once")
    .action((name: string, options: Creation) => perform((terminal) => create(name, options, terminal)));
  keys
    .command("rotate")
    .argument("<id>")
    .option("--grace <seconds>", "how long the old value still works, from the first use of the new one", number, 0)
    .description("gives it another value and prints that, this once")
    .action((id: string, { grace }: { grace: number }) => perform((terminal) => rotate(id, grace, terminal)));
  keys
    .command("requests")
    .argument("<id>")
    .option("--status <status>", "such as 404, or 4xx for all of a class")
    .description("lists the latest requests by it")
    .action((id: string, { status }: { status?: string }) => perform((terminal) => requests(id, status, terminal)));
  keys
    .command("revoke")
    .argument("<id>")
    .description("ends it")
    .action((id: string) => perform((terminal) => revoke(id, terminal)));
};
