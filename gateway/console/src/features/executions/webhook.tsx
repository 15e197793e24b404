import type { WebhookDelivery } from "@nodeloom/client";
import { Send } from "lucide-react";
import { request } from "../../api/client";
import { useChange } from "../../api/use-change";
import { Attempts, DeliveryState } from "../../parts/deliveries";
import { Button } from "../../ui/button";
import { Card } from "../../ui/page";
import { Time } from "../../ui/time";
import { COMMON } from "../../messages/common";
import { WEBHOOK } from "../../messages/executions";
import { DELIVERIES } from "../../messages/parts";

/** Delivery of a run's webhook by attempt. */
export const Webhook = ({ id, delivery }: { id: string; delivery: WebhookDelivery }) => {
  const { busy, run } = useChange("execution");
  if (!delivery.configured) return null;
  return (
    <Card
      title={COMMON.webhook}
      actions={
        <Button
          size="sm"
          icon={Send}
          busy={busy}
          onClick={() => void run(() => request("redeliverWebhook", { params: { id } }), WEBHOOK.sendingAgain)}
        >
          {DELIVERIES.sendAgain}
        </Button>
      }
    >
      <div className="mb-3 flex flex-wrap items-center gap-2 text-sm">
        <DeliveryState state={delivery.state} />
        <span className="min-w-0 text-muted wrap-anywhere">{delivery.url}</span>
        {delivery.nextAttemptAt !== null && (
          <span className="text-faint">
            {DELIVERIES.nextAttempt} <Time iso={delivery.nextAttemptAt} />
          </span>
        )}
      </div>
      {delivery.history.length > 0 && <Attempts history={delivery.history} />}
    </Card>
  );
};
