import type { WebhookAttempt, EndpointDelivery } from "@nodeloom/client";
import { Badge, type Tone } from "../ui/badge";
import { duration } from "../ui/format";
import { Table } from "../ui/table";
import { Time } from "../ui/time";
import { COMMON } from "../messages/common";
import { DELIVERIES } from "../messages/parts";

type State = EndpointDelivery["state"];

const TONES: Readonly<Record<State, Tone>> = {
  pending: "accent",
  delivered: "ok",
  failed: "bad",
  disabled: "bad",
  skipped: "neutral",
  unknown: "neutral",
};

export const DeliveryState = ({ state }: { state: State }) => <Badge tone={TONES[state]}>{state}</Badge>;

type Attempt = Pick<WebhookAttempt, "at" | "status" | "error" | "durationMs" | "delivery" | "attempt">;

/** Attempts to deliver a webhook message, oldest first. */
export const Attempts = ({ history }: { history: readonly Attempt[] }) => (
  <Table
    label={DELIVERIES.attempts}
    rows={history}
    keyOf={({ delivery, attempt, at }) => `${delivery} ${attempt} ${at}`}
    columns={[
      { title: DELIVERIES.attempt, cell: ({ delivery, attempt }) => (delivery > 1 ? `${delivery}.${attempt}` : attempt) },
      {
        title: DELIVERIES.response,
        cell: ({ status, error }) => <span className={error === null ? "" : "text-bad"}>{error ?? status}</span>,
      },
      { title: COMMON.duration, numeric: true, cell: ({ durationMs }) => duration(durationMs) },
      { title: COMMON.time, numeric: true, cell: ({ at }) => <Time iso={at} /> },
    ]}
  />
);
