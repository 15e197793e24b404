import type { AttemptId, DeliveryStep, AttemptResult } from "../delivery";
import type { MailStep } from "../mail/deliver";

export interface Activities {
  sendWebhook(attempt: AttemptId): Promise<AttemptResult>;
  /**
   * Makes one attempt to send an email.
   * @param attempt number of the attempt, starting at 1
   * @returns how the email ended, or the pause before the next attempt
   */
  sendMail(mailId: string, attempt: number): Promise<MailStep>;
}

export interface LocalActivities {
  /** Records an attempt. Idempotent. */
  recordAttempt(attempt: AttemptId, attemptResult: AttemptResult): Promise<DeliveryStep>;
}
