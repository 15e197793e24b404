import { randomUUID } from "node:crypto";
import type { Activities, LocalActivities } from "../../src/workflow/activity-types";
import type { RunInput } from "../../src/run/types";
import { createRunStarter } from "../../src/workflow/client";
import { connectToTemporal } from "../support/temporal";
import { inputWith, planWith } from "../support/run-inputs";

const MANY = 200;
/** A start has a deadline, and a busy machine makes few starts within it. */
const AT_ONCE = 10;
/** Workers take several tasks at once, and the server dispatches tasks that it has already read. */
const SOON = 60;

const inputOf = (executionId: string, userId: string): RunInput => inputWith(executionId, planWith([]), { userId });

it("starts another user's first run before most of one user's two hundred earlier ones", async () => {
  const taskQueue = `fair-${randomUUID().slice(0, 8)}`;
  const temporal = await connectToTemporal(taskQueue);
  const { start } = createRunStarter({ client: temporal.client, taskQueue });
  // Without workers, all runs wait at the server in the order of their start.
  for (let started = 0; started < MANY; started += AT_ONCE)
    await Promise.all(Array.from({ length: AT_ONCE }, () => start(inputOf(randomUUID(), "many"))));
  const first = randomUUID();
  await start(inputOf(first, "another"));

  const carriedIds: string[] = [];
  let tell: () => void;
  const all = new Promise<void>((resolve) => (tell = resolve));
  const activities: Pick<LocalActivities, "claim"> = {
    claim: ({ executionId }) => {
      carriedIds.push(executionId);
      if (carriedIds.length > MANY) tell();
      // Ends the workflow.
      return Promise.resolve(false);
    },
  };
  await temporal.work(activities as Activities & LocalActivities);
  try {
    await all;
    expect(carriedIds.indexOf(first)).toBeLessThan(SOON);
  } finally {
    await temporal.stop();
  }
});
