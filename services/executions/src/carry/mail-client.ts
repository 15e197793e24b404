/** Starts the workflows that deliver mails. */
import { type Client, WorkflowExecutionAlreadyStartedError } from "@temporalio/client";
import { TIMING } from "../run/timing";
import type { MailStarter } from "../mail/queue";
import type { deliverMail } from "./workflows";

const DELIVER_MAIL: keyof { deliverMail: typeof deliverMail } = "deliverMail";

/** Temporal has a mail's id and its kind, and nothing that it says. */
export const createMailStarter = ({ client, taskQueue }: { client: Client; taskQueue: string }): MailStarter => ({
  startMail: async ({ id, kind }) => {
    try {
      await client.withDeadline(Date.now() + TIMING.startCall, () =>
        client.workflow.start(DELIVER_MAIL, {
          workflowId: `mail-${id}`,
          taskQueue,
          args: [id],
          workflowIdReusePolicy: "REJECT_DUPLICATE",
          workflowExecutionTimeout: TIMING.mailAtMost,
          staticSummary: `mail: ${kind}`,
        }),
      );
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
  },
});
