import type { ApiKey } from "@nodeloom/client";
import { useState } from "react";
import { request } from "../../api/client";
import { useAction } from "../../api/use-action";
import { Button } from "../../ui/button";
import { Dialog } from "../../ui/overlays/dialog";
import { Check, Field, Input, Select } from "../../ui/inputs/field";
import type { Issued } from "./issued-dialog";

interface DialogProps {
  apiKey: ApiKey;
  onIssued: (issued: Issued) => void;
  onClose: () => void;
}

const GRACES = [
  ["0", "at once"],
  ["3600", "an hour after the new one is first used"],
  ["86400", "a day after the new one is first used"],
] as const;

export const RotateDialog = ({ apiKey, onIssued, onClose }: DialogProps) => {
  const [grace, setGrace] = useState<string>("3600");
  const { busy, run } = useAction(["keys"]);
  const rotate = async (): Promise<void> => {
    const answer = await run(() => request("rotateKey", { params: { id: apiKey.id }, body: { graceSeconds: Number(grace) } }));
    if (!answer) return;
    onIssued(answer.body);
    onClose();
  };
  return (
    <Dialog
      title={`Rotate “${apiKey.name}”`}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" busy={busy} onClick={() => void rotate()}>
            Rotate
          </Button>
        </>
      }
    >
      <p className="mb-4 text-sm text-muted">A new value takes the place of {apiKey.start}…; what the key may do stays.</p>
      <Field label="The old value ends">
        {(attributes) => (
          <Select {...attributes} value={grace} onChange={(event) => setGrace(event.target.value)}>
            {GRACES.map(([seconds, title]) => (
              <option key={seconds} value={seconds}>
                {title}
              </option>
            ))}
          </Select>
        )}
      </Field>
    </Dialog>
  );
};

export const RevokeDialog = ({ apiKey, onClose }: Omit<DialogProps, "onIssued">) => {
  const { busy, run } = useAction(["keys"]);
  const revoke = async (): Promise<void> => {
    await run(() => request("revokeKey", { params: { id: apiKey.id } }), `“${apiKey.name}” was revoked.`);
    onClose();
  };
  return (
    <Dialog
      title="Revoke this key?"
      onClose={onClose}
      actions={
        <>
          <Button autoFocus onClick={onClose}>
            Cancel
          </Button>
          <Button variant="danger" busy={busy} onClick={() => void revoke()}>
            Revoke
          </Button>
        </>
      }
    >
      <p className="text-sm wrap-anywhere">
        Calls with “{apiKey.name}” ({apiKey.start}…) fail within a second, everywhere. This can't be undone.
      </p>
    </Dialog>
  );
};

const END_EVENTS = ["execution.completed", "execution.failed", "execution.cancelled"] as const;
const EVENTS = [...END_EVENTS, "execution.waiting", "batch.completed", "budget.alert"] as const;

export const WebhookDialog = ({ apiKey, onIssued, onClose }: DialogProps) => {
  const [url, setUrl] = useState(apiKey.webhook?.url ?? "");
  const [events, setEvents] = useState<readonly string[]>(apiKey.webhook?.events ?? END_EVENTS);
  const { busy, run } = useAction(["keys"]);
  const save = async (): Promise<void> => {
    const chosen = EVENTS.filter((event) => events.includes(event));
    const answer = await run(() => request("setKeyWebhook", { params: { id: apiKey.id }, body: { url: url.trim(), events: chosen } }));
    if (!answer) return;
    onIssued({ name: apiKey.name, webhookSecret: answer.body.webhookSecret });
    onClose();
  };
  const remove = async (): Promise<void> => {
    await run(() => request("deleteKeyWebhook", { params: { id: apiKey.id } }), "The webhook was removed.");
    onClose();
  };
  return (
    <Dialog
      title={`Webhook of “${apiKey.name}”`}
      width="md"
      onClose={onClose}
      actions={
        <>
          {apiKey.webhook && (
            <Button busy={busy} onClick={() => void remove()}>
              Remove
            </Button>
          )}
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" busy={busy} disabled={url.trim() === "" || events.length === 0} onClick={() => void save()}>
            Save
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <Field label="Address" hint="Saving makes a new secret, shown once; the old one signs along for a while.">
          {(attributes) => (
            <Input
              {...attributes}
              type="url"
              placeholder="https://example.com/hook"
              value={url}
              onChange={(event) => setUrl(event.target.value)}
            />
          )}
        </Field>
        {apiKey.webhook && apiKey.webhook.disabledReason !== null && (
          <p className="text-sm text-bad">It was disabled: {apiKey.webhook.disabledReason}. Saving enables it.</p>
        )}
        <fieldset className="flex flex-col gap-2">
          <legend className="mb-1 text-[13px] font-medium">Events</legend>
          {EVENTS.map((event) => (
            <Check
              key={event}
              label={event}
              checked={events.includes(event)}
              onChange={({ target }) => setEvents(target.checked ? [...events, event] : events.filter((one) => one !== event))}
            />
          ))}
        </fieldset>
      </div>
    </Dialog>
  );
};
