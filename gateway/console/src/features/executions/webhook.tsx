import type { WebhookDelivery } from "@nodeloom/client";
import { Send } from "lucide-react";
import { request } from "../../api/client";
import { useChange } from "../../api/use-change";
import { Badge } from "../../ui/badge";
import { Button } from "../../ui/button";
import { duration } from "../../ui/format";
import { Card } from "../../ui/page";
import { Table } from "../../ui/table";
import { Time } from "../../ui/time";
import { COMMON } from "../../messages/common";
import { WEBHOOK } from "../../messages/executions";

const DELIVERY_TONES = {
  pending: "accent",
  delivered: "ok",
  failed: "bad",
  disabled: "bad",
  skipped: "neutral",
  unknown: "neutral",
} as const;

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
          {WEBHOOK.sendAgain}
        </Button>
      }
    >
      <div className="mb-3 flex flex-wrap items-center gap-2 text-sm">
        <Badge tone={DELIVERY_TONES[delivery.state]}>{delivery.state}</Badge>
        <span className="min-w-0 text-muted wrap-anywhere">{delivery.url}</span>
        {delivery.nextAttemptAt !== null && (
          <span className="text-faint">
            {WEBHOOK.nextAttempt} <Time iso={delivery.nextAttemptAt} />
          </span>
        )}
      </div>
      {delivery.history.length > 0 && (
        <Table
          label={WEBHOOK.attempts}
          rows={delivery.history}
          keyOf={({ delivery: number, attempt, at }) => `${number} ${attempt} ${at}`}
          columns={[
            { title: WEBHOOK.attempt, cell: ({ delivery: number, attempt }) => (number > 1 ? `${number}.${attempt}` : attempt) },
            {
              title: WEBHOOK.response,
              cell: ({ status, error }) => <span className={error === null ? "" : "text-bad"}>{error ?? status}</span>,
            },
            { title: COMMON.duration, numeric: true, cell: ({ durationMs }) => duration(durationMs) },
            { title: COMMON.time, numeric: true, cell: ({ at }) => <Time iso={at} /> },
          ]}
        />
      )}
    </Card>
  );
};
