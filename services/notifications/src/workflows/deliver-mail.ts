import { sleep } from "@temporalio/workflow";
import type { MailEnd } from "../store/mails";
import { sendMail } from "./steps";

/** Delivers one email with growing pauses. Its activity decides when the email is abandoned. */
export async function deliverMail(mailId: string): Promise<MailEnd> {
  for (let attempt = 1; ; attempt += 1) {
    const step = await sendMail.executeWithOptions({ summary: `attempt ${attempt}` }, [mailId, attempt]);
    if ("end" in step) return step.end;
    await sleep(step.pauseMs, { summary: `before attempt ${attempt + 1}` });
  }
}
