/** Starts the workflows that deliver messages. Temporal stores the ids and kinds of messages, not their content. */
import { type Client, WorkflowExecutionAlreadyStartedError, type WorkflowStartOptions } from "@temporalio/client";
import { inLinkedTrace } from "@nodeloom/platform";
import { translateTemporal } from "@nodeloom/platform/temporal";
import type { MailStarter } from "../mail/queue";
import { TIMING } from "../timing";
import type { DeliveryStarter } from "../webhooks/deliveries";
import type { deliverMail, deliverWebhook } from "../workflows";

const DELIVER_MAIL: keyof { deliverMail: typeof deliverMail } = "deliverMail";
const DELIVER_WEBHOOK: keyof { deliverWebhook: typeof deliverWebhook } = "deliverWebhook";

export interface StarterOptions {
  client: Client;
  taskQueue: string;
}

export const createStarter = ({ client, taskQueue }: StarterOptions): MailStarter & DeliveryStarter => {
  const start = async (type: string, options: Omit<WorkflowStartOptions, "taskQueue">): Promise<void> => {
    try {
      await client.withDeadline(Date.now() + TIMING.startCall, () => client.workflow.start(type, { ...options, taskQueue }));
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw translateTemporal(error, "messages can't be delivered right now");
    }
  };
  return {
    startMail: ({ id, kind }) =>
      start(DELIVER_MAIL, {
        workflowId: `mail-${id}`,
        args: [id],
        workflowIdReusePolicy: "REJECT_DUPLICATE",
        workflowExecutionTimeout: TIMING.mailAtMost,
        staticSummary: `mail: ${kind}`,
      }),

    // A workflow that was ended from outside is started again and continues with the next attempt.
    startDelivery: ({ id, ...input }) =>
      inLinkedTrace("webhook delivery", () =>
        start(DELIVER_WEBHOOK, {
          workflowId: `delivery-${id}-${input.delivery}`,
          args: [id, input],
          workflowIdConflictPolicy: "USE_EXISTING",
          workflowIdReusePolicy: "ALLOW_DUPLICATE",
          workflowExecutionTimeout: TIMING.deliveryAtMost,
          staticSummary: `delivery ${input.delivery}`,
        }),
      ),
  };
};
