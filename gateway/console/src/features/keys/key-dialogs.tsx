import type { ApiKey } from "@nodeloom/client";
import { useState } from "react";
import { request } from "../../api/client";
import { useChange } from "../../api/use-change";
import { ConfirmDialog, FormDialog, ShownOnceDialog } from "../../parts/form";
import { Button } from "../../ui/button";
import { Code } from "../../ui/copy";
import { Check, InputField, SelectField } from "../../ui/inputs/field";
import { Notice } from "../../ui/notice";

export interface Issued {
  name: string;
  key?: string;
  webhookSecret?: string;
  warnings?: string[];
}

/** Secrets that are shown once. */
export const IssuedDialog = ({ issued: { name, key, webhookSecret, warnings }, onClose }: { issued: Issued; onClose: () => void }) => (
  <ShownOnceDialog title={`“${name}”`} action="I have kept it" onClose={onClose}>
    <Notice kind="warn" title="Shown this once">
      Copy it now: only its hash is kept, and nobody can show it again.
    </Notice>
    {[["Key", key] as const, ["Webhook secret", webhookSecret] as const].map(
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
  onIssued: (issued: Issued) => void;
  onClose: () => void;
}

const READS = ["keys"];
const GRACES = [
  ["0", "at once"],
  ["3600", "an hour after the new one is first used"],
  ["86400", "a day after the new one is first used"],
] as const;

export const RotateDialog = ({ apiKey: { id, name, start }, onIssued, onClose }: DialogProps) => (
  <FormDialog
    title={`Rotate “${name}”`}
    action="Rotate"
    reads={READS}
    submit={async (data) =>
      onIssued((await request("rotateKey", { params: { id }, body: { graceSeconds: Number(data.get("grace")) } })).body)
    }
    onClose={onClose}
  >
    <p className="text-sm text-muted">A new value takes the place of {start}…; what the key may do stays.</p>
    <SelectField label="The old value ends" name="grace" defaultValue="3600" options={GRACES} />
  </FormDialog>
);

export const RevokeDialog = ({ apiKey: { id, name, start }, onClose }: Omit<DialogProps, "onIssued">) => (
  <ConfirmDialog
    title="Revoke this key?"
    action="Revoke"
    text={`Calls with “${name}” (${start}…) fail within a second, everywhere. This can't be undone.`}
    reads={READS}
    submit={() => request("revokeKey", { params: { id } })}
    done={`“${name}” was revoked.`}
    onClose={onClose}
  />
);

const END_EVENTS = ["execution.completed", "execution.failed", "execution.cancelled"] as const;
const EVENTS = [...END_EVENTS, "execution.waiting", "batch.completed", "budget.alert"] as const;

export const WebhookDialog = ({ apiKey: { id, name, webhook }, onIssued, onClose }: DialogProps) => {
  const [url, setUrl] = useState(webhook?.url ?? "");
  const [events, setEvents] = useState<readonly string[]>(webhook?.events ?? END_EVENTS);
  const { busy, run } = useChange(...READS);
  const save = async (): Promise<void> => {
    const chosen = EVENTS.filter((event) => events.includes(event));
    const { body } = await request("setKeyWebhook", { params: { id }, body: { url: url.trim(), events: chosen } });
    onIssued({ name, webhookSecret: body.webhookSecret });
  };
  const remove = async (): Promise<void> => {
    await run(() => request("deleteKeyWebhook", { params: { id } }), "The webhook was removed.");
    onClose();
  };
  return (
    <FormDialog
      title={`Webhook of “${name}”`}
      width="md"
      action="Save"
      disabled={url.trim() === "" || events.length === 0}
      reads={READS}
      submit={save}
      onClose={onClose}
      others={
        webhook && (
          <Button busy={busy} onClick={() => void remove()}>
            Remove
          </Button>
        )
      }
    >
      <InputField
        label="Address"
        hint="Saving makes a new secret, shown once; the old one signs along for a while."
        type="url"
        placeholder="https://example.com/hook"
        value={url}
        onText={setUrl}
      />
      {webhook && webhook.disabledReason !== null && (
        <p className="text-sm text-bad">It was disabled: {webhook.disabledReason}. Saving enables it.</p>
      )}
      <fieldset className="flex flex-col gap-2">
        <legend className="mb-1 text-[13px] font-medium">Events</legend>
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
