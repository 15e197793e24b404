import type { Schedule } from "../api-types";
import { printRows, type Commands } from "./command";
import { readInputs } from "./inputs";
import { typesOf } from "./run";
import { openClient } from "./settings";
import type { Terminal } from "./terminal";

/** `nodeloom schedule`: times at which a workflow runs. */

interface ScheduleOptions {
  timezone?: string;
  alias?: string;
  maxCredits?: number;
}

const COLUMNS = ["id", "workflowSlug", "cron", "timezone", "alias", "state", "next", "maxCredits"];

/** Adds whether it starts runs, and when the next one starts. */
const withState = (schedule: Schedule): Schedule & { state: string; next: string | null } => ({
  ...schedule,
  state: schedule.stopped ? `stopped: ${schedule.stopped.code}` : schedule.paused ? "paused" : "active",
  next: schedule.nextRuns[0] ?? null,
});

const create = async (slug: string, cron: string, parts: string[], options: ScheduleOptions, terminal: Terminal): Promise<void> => {
  const client = await openClient();
  const target = { workflow: slug, ...(options.alias === undefined ? {} : { alias: options.alias }) };
  const inputs = JSON.parse(await readInputs(client, parts, await typesOf(client, target))) as Record<string, unknown>;
  const schedule: Schedule = await client.schedules.create(slug, { cron, inputs, ...options });
  terminal.value(schedule, schedule.id);
};

const pause = async (slug: string, id: string, paused: boolean, terminal: Terminal): Promise<void> => {
  const changed = await (await openClient()).schedules.update(slug, id, { paused });
  terminal.value(changed, `${id} is ${changed.paused ? "paused" : "active"}`);
};

export const addScheduleCommands = ({ program, perform, number }: Commands): void => {
  const schedule = program.command("schedule").description("times at which a workflow runs");
  schedule
    .command("list")
    .argument("[workflow]", "its slug")
    .description("lists the schedules of a workflow, or of all workflows")
    .action((slug: string | undefined) =>
      perform(async (terminal) => printRows(terminal, (await (await openClient()).schedules.list(slug)).map(withState), COLUMNS)),
    );
  schedule
    .command("create")
    .argument("<workflow>", "its slug")
    .argument("<cron>", "minute, hour, day of month, month and day of week, or @daily")
    .argument("[inputs...]", "name=text, name=@file, name:=json")
    .option("--timezone <name>", "an IANA name, such as Europe/Berlin; UTC without it")
    .option("--alias <name>", "run the version of this alias")
    .option("--max-credits <n>", "the most that each run can cost", number)
    .description("adds a schedule and prints its id")
    .action((slug: string, cron: string, inputs: string[], { timezone, alias, maxCredits }: ScheduleOptions) =>
      perform((terminal) =>
        create(
          slug,
          cron,
          inputs,
          {
            ...(timezone === undefined ? {} : { timezone }),
            ...(alias === undefined ? {} : { alias }),
            ...(maxCredits === undefined ? {} : { maxCredits }),
          },
          terminal,
        ),
      ),
    );
  for (const [name, paused, description] of [
    ["pause", true, "stops a schedule until you resume it"],
    ["resume", false, "continues a paused schedule"],
  ] as const)
    schedule
      .command(name)
      .argument("<workflow>", "its slug")
      .argument("<id>", "of the schedule")
      .description(description)
      .action((slug: string, id: string) => perform((terminal) => pause(slug, id, paused, terminal)));
  schedule
    .command("delete")
    .argument("<workflow>", "its slug")
    .argument("<id>", "of the schedule")
    .description("deletes a schedule")
    .action((slug: string, id: string) =>
      perform(async (terminal) => {
        await (await openClient()).schedules.delete(slug, id);
        terminal.note(`deleted ${id}`);
      }),
    );
};
