/** The activity of mails. */
import { Context } from "@temporalio/activity";
import { TIMING } from "../run/timing";
import type { MailStep } from "../mail/deliver";
import type { Activities } from "./activity-types";

export const createMailActivities = (deliver: (mailId: string, attempt: number) => Promise<MailStep>): Pick<Activities, "sendMail"> => ({
  sendMail: async (mailId, attempt) => {
    const context = Context.current();
    const beat = setInterval(() => context.heartbeat(), TIMING.heartbeat / TIMING.beatsPerTimeout);
    try {
      return await deliver(mailId, attempt);
    } finally {
      clearInterval(beat);
    }
  },
});
