import type { WebhookEndpoint, WebhookEndpointWithSecret } from "@nodeloom/client";
import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Plus, Webhook } from "lucide-react";
import { useEffect, useState } from "react";
import { mayAs, ownerIdOf, workFor } from "../../api/organization";
import { meQuery } from "../../api/queries";
import { Loaded } from "../../parts/loaded";
import { Badge } from "../../ui/badge";
import { Button } from "../../ui/button";
import { Empty } from "../../ui/notice";
import { Page } from "../../ui/page";
import { Table, type Column } from "../../ui/table";
import { Time } from "../../ui/time";
import { EndpointActions } from "./endpoint-actions";
import { EndpointDialog, SecretDialog } from "./endpoint-dialogs";
import { endpointsQuery } from "./queries";
import { COMMON } from "../../messages/common";
import { WEBHOOKS_PAGE } from "../../messages/webhooks";

const route = getRouteApi("/shell/webhooks");

const State = ({ endpoint: { disabledAt, disabledReason } }: { endpoint: WebhookEndpoint }) =>
  disabledAt === null ? (
    <Badge tone="ok">{WEBHOOKS_PAGE.enabled}</Badge>
  ) : (
    <span className="block min-w-0">
      <Badge tone="bad">{WEBHOOKS_PAGE.disabled}</Badge>
      <span className="mt-0.5 block text-xs text-muted wrap-anywhere">{disabledReason}</span>
    </span>
  );

const COLUMNS: readonly Column<WebhookEndpoint>[] = [
  {
    title: COMMON.address,
    // Leaves room for the state and the actions on a phone.
    className: "max-sm:max-w-36",
    cell: ({ id, url, description }) => (
      <span className="block min-w-0">
        <Link to="/webhooks/$id" params={{ id }} className="block truncate font-medium text-accent-text hover:underline" title={url}>
          {url}
        </Link>
        {description !== "" && <span className="block truncate text-xs text-faint">{description}</span>}
      </span>
    ),
  },
  {
    title: COMMON.events,
    wide: true,
    cell: ({ events }) => (
      <span className="flex flex-wrap gap-1">
        {events.map((event) => (
          <Badge key={event}>{event}</Badge>
        ))}
      </span>
    ),
  },
  { title: COMMON.status, cell: (endpoint) => <State endpoint={endpoint} /> },
  { title: COMMON.created, numeric: true, wide: true, cell: ({ createdAt }) => <Time iso={createdAt} /> },
  { title: COMMON.actions, numeric: true, cell: (endpoint) => <EndpointActions endpoint={endpoint} /> },
];

/** Follows a link that names the account, such as a mail's. */
const useAccountOfLink = (owner: string | undefined): void => {
  const { account } = route.useSearch();
  const { user } = useSuspenseQuery(meQuery).data ?? {};
  useEffect(() => {
    if (account === undefined || owner === undefined || account === owner) return;
    workFor(account === user?.id ? undefined : account, "/webhooks");
  }, [account, owner, user?.id]);
};

/** Webhook endpoints of the account. */
export const WebhooksPage = () => {
  const { data: me } = useSuspenseQuery(meQuery);
  const endpoints = useQuery(endpointsQuery);
  const [isAdding, setIsAdding] = useState(false);
  const [issued, setIssued] = useState<WebhookEndpointWithSecret>();
  useAccountOfLink(me ? ownerIdOf(me) : undefined);
  if (!me) return null;
  return (
    <Page
      title={COMMON.webhooks}
      lead={WEBHOOKS_PAGE.intro}
      actions={
        <Button icon={Plus} variant="primary" disabled={!mayAs(me, "editor")} onClick={() => setIsAdding(true)}>
          {WEBHOOKS_PAGE.newEndpoint}
        </Button>
      }
    >
      <Loaded of={endpoints} lines={4}>
        {(rows) => (
          <Table
            label={COMMON.webhooks}
            columns={COLUMNS}
            rows={rows}
            keyOf={({ id }) => id}
            empty={
              <Empty icon={Webhook} title={WEBHOOKS_PAGE.noEndpointsYet}>
                {WEBHOOKS_PAGE.emptyHint}
              </Empty>
            }
          />
        )}
      </Loaded>
      {isAdding && <EndpointDialog onIssued={setIssued} onClose={() => setIsAdding(false)} />}
      {issued && <SecretDialog issued={issued} onClose={() => setIssued(undefined)} />}
    </Page>
  );
};
