import { sleep } from "@temporalio/workflow";
import { sendMail } from "./steps";

/** Delivers one mail that version 1.0.0 accepted. */
export async function deliverMail(mailId: string): Promise<string> {
  for (let attempt = 1; ; attempt += 1) {
    const step = await sendMail.executeWithOptions({ summary: `attempt ${attempt}` }, [mailId, attempt]);
    if ("end" in step) return step.end;
    await sleep(step.pauseMs, { summary: `before attempt ${attempt + 1}` });
  }
}
