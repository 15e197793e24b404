import type { WebhookEndpoint, WebhookEndpointWithSecret } from "@nodeloom/client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { useState } from "react";
import { request } from "../../api/client";
import { mayAs } from "../../api/organization";
import { meQuery } from "../../api/queries";
import { ConfirmDialog, FormDialog, ShownOnceDialog } from "../../parts/form";
import { Code } from "../../ui/copy";
import { Check, InputField } from "../../ui/inputs/field";
import { Notice } from "../../ui/notice";
import { READS } from "./queries";
import { COMMON } from "../../messages/common";
import { ENDPOINT_DIALOGS, ENDPOINT_EVENTS } from "../../messages/webhooks";

type Event = WebhookEndpoint["events"][number];

const EVENTS = Object.keys(ENDPOINT_EVENTS) as Event[];
const ENDS: readonly Event[] = ["execution.completed", "execution.failed", "execution.cancelled"];
const MAX_DESCRIPTION_CHARS = 200;

/** A new endpoint's secret, or a replaced one. */
export const SecretDialog = ({ issued: { url, secret }, onClose }: { issued: WebhookEndpointWithSecret; onClose: () => void }) => (
  <ShownOnceDialog title={url} action={ENDPOINT_DIALOGS.iSavedIt} onClose={onClose}>
    <Notice kind="warn" title={ENDPOINT_DIALOGS.shownOnlyOnce}>
      {ENDPOINT_DIALOGS.copyNow}
    </Notice>
    <div>
      <h3 className="mb-1 text-[13px] font-medium">{ENDPOINT_DIALOGS.secretOf}</h3>
      <Code text={secret} label={ENDPOINT_DIALOGS.secretOf} wrap />
      <p className="mt-1 text-xs text-faint">{ENDPOINT_DIALOGS.secretHint}</p>
    </div>
  </ShownOnceDialog>
);

export interface EndpointDialogProps {
  /** Undefined: a new one. */
  endpoint?: WebhookEndpoint;
  onIssued: (issued: WebhookEndpointWithSecret) => void;
  onClose: () => void;
}

/** Adds or changes an endpoint. */
export const EndpointDialog = ({ endpoint, onIssued, onClose }: EndpointDialogProps) => {
  const [url, setUrl] = useState(endpoint?.url ?? "");
  const [description, setDescription] = useState(endpoint?.description ?? "");
  const [events, setEvents] = useState<readonly Event[]>(endpoint?.events ?? ENDS);
  const { data: me } = useSuspenseQuery(meQuery);
  const isOwner = me !== null && mayAs(me, "owner");
  const submit = async (): Promise<void> => {
    const body = { url: url.trim(), events: EVENTS.filter((event) => events.includes(event)), description: description.trim() };
    if (endpoint === undefined) onIssued((await request("createWebhookEndpoint", { body })).body);
    else await request("updateWebhookEndpoint", { params: { id: endpoint.id }, body });
  };
  return (
    <FormDialog
      title={endpoint ? ENDPOINT_DIALOGS.changeEndpoint : ENDPOINT_DIALOGS.newEndpoint}
      width="md"
      action={endpoint ? COMMON.save : COMMON.create}
      disabled={url.trim() === "" || events.length === 0}
      reads={READS}
      submit={submit}
      onClose={onClose}
    >
      <InputField
        label={COMMON.address}
        hint={ENDPOINT_DIALOGS.addressHint}
        type="url"
        required
        placeholder="https://example.com/hook"
        value={url}
        onText={setUrl}
      />
      <InputField
        label={COMMON.description}
        hint={ENDPOINT_DIALOGS.descriptionHint}
        maxLength={MAX_DESCRIPTION_CHARS}
        value={description}
        onText={setDescription}
      />
      <fieldset className="flex flex-col gap-2">
        <legend className="mb-1 text-[13px] font-medium">{COMMON.events}</legend>
        {EVENTS.map((event) => (
          <Check
            key={event}
            label={<code className="font-mono text-xs">{event}</code>}
            hint={ENDPOINT_EVENTS[event]}
            checked={events.includes(event)}
            disabled={event === "audit.row" && !isOwner}
            onCheck={(isOn) => setEvents(isOn ? [...events, event] : events.filter((one) => one !== event))}
          />
        ))}
      </fieldset>
    </FormDialog>
  );
};

export const RotateDialog = ({ endpoint: { id }, onIssued, onClose }: EndpointDialogProps & { endpoint: WebhookEndpoint }) => (
  <ConfirmDialog
    title={ENDPOINT_DIALOGS.rotate}
    action={ENDPOINT_DIALOGS.confirmRotate}
    text={ENDPOINT_DIALOGS.rotateHint}
    danger={false}
    reads={READS}
    submit={async () => onIssued((await request("rotateWebhookEndpointSecret", { params: { id } })).body)}
    onClose={onClose}
  />
);

export interface DeleteDialogProps {
  endpoint: WebhookEndpoint;
  onDeleted?: () => Promise<void>;
  onClose: () => void;
}

export const DeleteDialog = ({ endpoint: { id, url }, onDeleted, onClose }: DeleteDialogProps) => (
  <ConfirmDialog
    title={ENDPOINT_DIALOGS.remove}
    action={COMMON.delete}
    text={ENDPOINT_DIALOGS.removeHint(url)}
    reads={READS}
    submit={async () => {
      await request("deleteWebhookEndpoint", { params: { id } });
      await onDeleted?.();
    }}
    successText={ENDPOINT_DIALOGS.removed}
    onClose={onClose}
  />
);
