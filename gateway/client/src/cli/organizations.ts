import { printRows, type Commands } from "./command";
import { withSession } from "./session";
import { openClient } from "./settings";

/** `nodeloom orgs`: organizations and their members. */

export const addOrganizationCommands = ({ program, perform }: Commands): void => {
  const orgs = program.command("orgs").description("organizations and their members");
  orgs
    .command("list")
    .description("lists your organizations; asks for your email address and password, because a key belongs to one organization")
    .action(() =>
      perform(async (terminal) => {
        const rows = await withSession(async (client) => (await client.request("listOrganizations", {})).body);
        printRows(terminal, rows, ["id", "name", "role", "tier", "members"]);
      }),
    );
  orgs
    .command("members")
    .argument("<id>", "of the organization")
    .description("lists members and their roles; the key needs members:read")
    .action((id: string) =>
      perform(async (terminal) => {
        const { body } = await (await openClient()).request("listMembers", { params: { id } });
        printRows(terminal, body, ["userId", "email", "role", "since"]);
      }),
    );
};
