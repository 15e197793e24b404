import type { AttemptId, DeliveryStep, Sent } from "../delivery";
import type { MailStep } from "../mail/deliver";

export interface Activities {
  sendWebhook(attempt: AttemptId): Promise<Sent>;
  /**
   * Makes one attempt to send an email.
   * @param attempt number of the attempt, starting at 1
   * @returns how the email ended, or the pause before the next attempt
   */
  sendMail(mailId: string, attempt: number): Promise<MailStep>;
}

export interface LocalActivities {
  /** Records an attempt. Idempotent. */
  recordAttempt(attempt: AttemptId, attemptResult: Sent): Promise<DeliveryStep>;
}
