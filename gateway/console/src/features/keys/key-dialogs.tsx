import type { ApiKey } from "@nodeloom/client";
import { useState } from "react";
import { request } from "../../api/client";
import { useChange } from "../../api/use-change";
import { ConfirmDialog, FormDialog, ShownOnceDialog } from "../../parts/form";
import { Button } from "../../ui/button";
import { Code } from "../../ui/copy";
import { Check, InputField, SelectField } from "../../ui/inputs/field";
import { Notice } from "../../ui/notice";
import { COMMON } from "../../messages/common";
import { KEY_DIALOGS } from "../../messages/keys";

export interface IssuedKey {
  name: string;
  key?: string;
  webhookSecret?: string;
  warnings?: string[];
}

/** Shows secrets once. */
export const IssuedDialog = ({ issued: { name, key, webhookSecret, warnings }, onClose }: { issued: IssuedKey; onClose: () => void }) => (
  <ShownOnceDialog title={`“${name}”`} action={KEY_DIALOGS.iSavedIt} onClose={onClose}>
    <Notice kind="warn" title={KEY_DIALOGS.shownOnlyOnce}>
      {KEY_DIALOGS.copyNow}
    </Notice>
    {[[COMMON.apiKey, key] as const, [KEY_DIALOGS.webhookSecret, webhookSecret] as const].map(
      ([title, text]) =>
        text !== undefined && (
          <div key={title}>
            <h3 className="mb-1 text-[13px] font-medium">{title}</h3>
            <Code text={text} label={title} wrap />
          </div>
        ),
    )}
    {warnings?.map((warning) => (
      <Notice key={warning} kind="warn">
        {warning}
      </Notice>
    ))}
  </ShownOnceDialog>
);

interface DialogProps {
  apiKey: ApiKey;
  onIssued: (issued: IssuedKey) => void;
  onClose: () => void;
}

const READS = ["keys"];
const GRACES = [
  ["0", KEY_DIALOGS.immediately],
  ["3600", KEY_DIALOGS.oneHourAfterUse],
  ["86400", KEY_DIALOGS.oneDayAfterUse],
] as const;

export const RotateDialog = ({ apiKey: { id, name, start }, onIssued, onClose }: DialogProps) => (
  <FormDialog
    title={KEY_DIALOGS.rotate(name)}
    action={KEY_DIALOGS.confirmRotate}
    reads={READS}
    submit={async (data) =>
      onIssued((await request("rotateKey", { params: { id }, body: { graceSeconds: Number(data.get("grace")) } })).body)
    }
    onClose={onClose}
  >
    <p className="text-sm text-muted">{KEY_DIALOGS.rotateHint(start)}</p>
    <SelectField label={KEY_DIALOGS.oldValueExpires} name="grace" defaultValue="3600" options={GRACES} />
  </FormDialog>
);

export const RevokeDialog = ({ apiKey: { id, name, start }, onClose }: Omit<DialogProps, "onIssued">) => (
  <ConfirmDialog
    title={KEY_DIALOGS.revokeThisKey}
    action={KEY_DIALOGS.revoke}
    text={KEY_DIALOGS.revokeHint(name, start)}
    reads={READS}
    submit={() => request("revokeKey", { params: { id } })}
    successText={KEY_DIALOGS.revoked(name)}
    onClose={onClose}
  />
);

const END_EVENTS = ["execution.completed", "execution.failed", "execution.cancelled"] as const;
const EVENTS = [...END_EVENTS, "execution.waiting", "batch.completed", "budget.alert", "model.retiring"] as const;

export const WebhookDialog = ({ apiKey: { id, name, webhook }, onIssued, onClose }: DialogProps) => {
  const [url, setUrl] = useState(webhook?.url ?? "");
  const [events, setEvents] = useState<readonly string[]>(webhook?.events ?? END_EVENTS);
  const { busy, run } = useChange(...READS);
  const save = async (): Promise<void> => {
    const chosenEvents = EVENTS.filter((event) => events.includes(event));
    const { body } = await request("setKeyWebhook", { params: { id }, body: { url: url.trim(), events: chosenEvents } });
    onIssued({ name, webhookSecret: body.webhookSecret });
  };
  const remove = async (): Promise<void> => {
    await run(() => request("deleteKeyWebhook", { params: { id } }), KEY_DIALOGS.webhookRemoved);
    onClose();
  };
  return (
    <FormDialog
      title={KEY_DIALOGS.webhookFor(name)}
      width="md"
      action={COMMON.save}
      disabled={url.trim() === "" || events.length === 0}
      reads={READS}
      submit={save}
      onClose={onClose}
      others={
        webhook && (
          <Button busy={busy} onClick={() => void remove()}>
            {COMMON.remove}
          </Button>
        )
      }
    >
      <InputField
        label={COMMON.address}
        hint={KEY_DIALOGS.newSecretHint}
        type="url"
        placeholder="https://example.com/hook"
        value={url}
        onText={setUrl}
      />
      {webhook && webhook.disabledReason !== null && (
        <p className="text-sm text-bad">{KEY_DIALOGS.webhookDisabled(webhook.disabledReason)}</p>
      )}
      <fieldset className="flex flex-col gap-2">
        <legend className="mb-1 text-[13px] font-medium">{COMMON.events}</legend>
        {EVENTS.map((event) => (
          <Check
            key={event}
            label={event}
            checked={events.includes(event)}
            onCheck={(isOn) => setEvents(isOn ? [...events, event] : events.filter((one) => one !== event))}
          />
        ))}
      </fieldset>
    </FormDialog>
  );
};
