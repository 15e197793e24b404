/** Temporal activities that deliver messages. */
import { ApplicationFailure, Context } from "@temporalio/activity";
import type { MailStep } from "../mail/deliver";
import { TIMING } from "../timing";
import { PostponedAttempt, type Webhooks } from "../webhooks/webhooks";
import type { Activities, LocalActivities } from "../workflows/activities";

export interface ActivitiesOptions {
  webhooks: Pick<Webhooks, "send" | "record">;
  deliverMail(mailId: string, attempt: number): Promise<MailStep>;
}

const beating = async <T>(timeoutMs: number, work: () => Promise<T>): Promise<T> => {
  const context = Context.current();
  const beat = setInterval(() => context.heartbeat(), timeoutMs / TIMING.beatsPerTimeout);
  try {
    return await work();
  } finally {
    clearInterval(beat);
  }
};

export const createActivities = ({ webhooks, deliverMail }: ActivitiesOptions): Activities & LocalActivities => ({
  sendWebhook: async (attempt) => {
    try {
      return await beating(TIMING.heartbeatQuick, () => webhooks.send(attempt));
    } catch (error) {
      // Temporal retries when the delivery's turn comes.
      if (!(error instanceof PostponedAttempt)) throw error;
      throw ApplicationFailure.create({ message: error.message, type: "OUTGOING_LIMIT_EXCEEDED", nextRetryDelay: error.afterMs });
    }
  },
  recordAttempt: webhooks.record,
  sendMail: (mailId, attempt) => beating(TIMING.heartbeat, () => deliverMail(mailId, attempt)),
});
