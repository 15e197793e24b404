import type { EndpointDelivery, WebhookEndpoint } from "@nodeloom/client";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { Send } from "lucide-react";
import { useState } from "react";
import { request } from "../../api/client";
import { useChange } from "../../api/use-change";
import { Attempts, DeliveryState } from "../../parts/deliveries";
import { Loading, NotThere } from "../../parts/error-pages";
import { Loaded } from "../../parts/loaded";
import { Pager } from "../../parts/pager";
import { Badge } from "../../ui/badge";
import { Button, IconButton } from "../../ui/button";
import { Notice } from "../../ui/notice";
import { Dialog } from "../../ui/overlays/dialog";
import { Card, Page } from "../../ui/page";
import { Table, type Column } from "../../ui/table";
import { Time } from "../../ui/time";
import { EndpointActions } from "./endpoint-actions";
import { deliveriesQuery, endpointsQuery, READS, sendTest, setDisabled } from "./queries";
import { COMMON } from "../../messages/common";
import { DELIVERIES } from "../../messages/parts";
import { ENDPOINT_PAGE, WEBHOOKS_PAGE } from "../../messages/webhooks";

const route = getRouteApi("/shell/webhooks/$id");

/** The run or batch that a message is about. */
const Subject = ({ executionId, batchId }: EndpointDelivery) => {
  const classes = "mt-0.5 block text-accent-text hover:underline";
  if (executionId !== null)
    return (
      <Link to="/executions/$id" params={{ id: executionId }} className={classes}>
        {ENDPOINT_PAGE.run}
      </Link>
    );
  if (batchId === null) return null;
  return (
    <Link to="/batches/$id" params={{ id: batchId }} className={classes}>
      {ENDPOINT_PAGE.batch}
    </Link>
  );
};

interface Acting {
  endpoint: WebhookEndpoint;
  busy: boolean;
  show: (delivery: EndpointDelivery) => void;
  sendAgain: (delivery: EndpointDelivery) => void;
}

const columnsOf = ({ endpoint, busy, show, sendAgain }: Acting): readonly Column<EndpointDelivery>[] => [
  {
    title: ENDPOINT_PAGE.event,
    cell: (delivery) => (
      <span className="block min-w-0 text-xs">
        <code className="block font-mono wrap-anywhere">{delivery.event}</code>
        <Subject {...delivery} />
      </span>
    ),
  },
  {
    title: COMMON.status,
    cell: (delivery) => (
      <span className="block min-w-0">
        <DeliveryState state={delivery.state} />
        {delivery.history.length > 0 && (
          <button type="button" className="ml-2 text-xs text-accent-text hover:underline" onClick={() => show(delivery)}>
            {ENDPOINT_PAGE.attempts(delivery.attempts)}
          </button>
        )}
        {delivery.lastError !== null && <span className="mt-0.5 block text-xs text-bad wrap-anywhere">{delivery.lastError}</span>}
        {delivery.nextAttemptAt !== null && (
          <span className="mt-0.5 block text-xs text-faint">
            {DELIVERIES.nextAttempt} <Time iso={delivery.nextAttemptAt} />
          </span>
        )}
      </span>
    ),
  },
  { title: COMMON.created, numeric: true, wide: true, cell: ({ createdAt }) => <Time iso={createdAt} /> },
  {
    title: COMMON.actions,
    numeric: true,
    cell: (delivery) => (
      <IconButton
        icon={Send}
        size="sm"
        label={ENDPOINT_PAGE.sendAgainOf(delivery.event)}
        disabled={busy || endpoint.disabledAt !== null}
        onClick={() => sendAgain(delivery)}
      />
    ),
  },
];

const Messages = ({ endpoint }: { endpoint: WebhookEndpoint }) => {
  const { cursor } = route.useSearch();
  const navigate = useNavigate();
  const page = useQuery(deliveriesQuery(endpoint.id, cursor));
  const [shownDelivery, setShown] = useState<EndpointDelivery>();
  const { busy, run } = useChange(...READS);
  const sendAgain = ({ id }: EndpointDelivery): void =>
    void run(() => request("redeliverToWebhookEndpoint", { params: { id: endpoint.id, deliveryId: id } }), ENDPOINT_PAGE.sendingAgain);
  return (
    <Loaded of={page}>
      {({ rows, nextCursor }) => (
        <>
          <Table
            label={ENDPOINT_PAGE.messages}
            columns={columnsOf({ endpoint, busy, show: setShown, sendAgain })}
            rows={rows}
            keyOf={({ id }) => id}
            empty={<p className="text-sm text-muted">{ENDPOINT_PAGE.noMessages}</p>}
          />
          <Pager
            cursor={cursor}
            nextCursor={nextCursor}
            onTurn={(to) => void navigate({ to: "/webhooks/$id", params: { id: endpoint.id }, search: { cursor: to } })}
          />
          {shownDelivery && (
            <Dialog
              title={ENDPOINT_PAGE.attemptsOf(shownDelivery.event)}
              width="md"
              onClose={() => setShown(undefined)}
              actions={<Button onClick={() => setShown(undefined)}>{COMMON.close}</Button>}
            >
              <Attempts history={shownDelivery.history} />
            </Dialog>
          )}
        </>
      )}
    </Loaded>
  );
};

const Disabled = ({ endpoint }: { endpoint: WebhookEndpoint }) => {
  const { busy, run } = useChange(...READS);
  if (endpoint.disabledAt === null) return null;
  return (
    <Notice
      kind="warn"
      className="mb-5"
      title={ENDPOINT_PAGE.disabledSince}
      actions={
        <Button size="sm" busy={busy} onClick={() => void run(() => setDisabled(endpoint, false), WEBHOOKS_PAGE.isEnabled)}>
          {WEBHOOKS_PAGE.enable}
        </Button>
      }
    >
      {ENDPOINT_PAGE.disabled} <Time iso={endpoint.disabledAt} />. {ENDPOINT_PAGE.disabledHint(endpoint.disabledReason ?? "")}
    </Notice>
  );
};

const TestButton = ({ endpoint }: { endpoint: WebhookEndpoint }) => {
  const { busy, run } = useChange(...READS);
  return (
    <Button
      size="sm"
      icon={Send}
      busy={busy}
      disabled={endpoint.disabledAt !== null}
      onClick={() => void run(() => sendTest(endpoint), WEBHOOKS_PAGE.isTested)}
    >
      {WEBHOOKS_PAGE.test}
    </Button>
  );
};

export const EndpointPage = () => {
  const { id } = route.useParams();
  const endpoints = useQuery(endpointsQuery);
  const navigate = useNavigate();
  if (endpoints.isPending) return <Loading />;
  const endpoint = endpoints.data?.find((one) => one.id === id);
  if (endpoint === undefined)
    return (
      <NotThere
        error={endpoints.error}
        retry={() => void endpoints.refetch()}
        title={ENDPOINT_PAGE.notFound}
        list={{ to: "/webhooks", title: ENDPOINT_PAGE.goToWebhooks }}
      >
        {ENDPOINT_PAGE.notFoundHint}
      </NotThere>
    );
  return (
    <Page
      title={endpoint.url}
      lead={endpoint.description || ENDPOINT_PAGE.lead}
      actions={<EndpointActions endpoint={endpoint} onDeleted={() => navigate({ to: "/webhooks" })} />}
    >
      <Disabled endpoint={endpoint} />
      <div className="mb-5 flex flex-wrap gap-1">
        {endpoint.events.map((event) => (
          <Badge key={event}>{event}</Badge>
        ))}
      </div>
      <Card title={ENDPOINT_PAGE.messages} actions={<TestButton endpoint={endpoint} />}>
        <Messages endpoint={endpoint} />
      </Card>
    </Page>
  );
};
