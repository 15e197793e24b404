import type { ListedSecret } from "@nodeloom/client";
import { useQueryClient } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { messageOf, request } from "../../api/client";
import { Button } from "../../ui/button";
import { Field, Input, TextArea } from "../../ui/inputs/field";
import { Notice } from "../../ui/notice";
import { Dialog } from "../../ui/overlays/dialog";

const NAME = /^[A-Z][A-Z0-9_]{0,63}$/;

/** What is typed as a name: capitals, and an underscore for what a name can't have. */
const named = (text: string): string => text.toUpperCase().replace(/[^A-Z0-9_]/g, "_");
const listed = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean);

/** Sets a secret, or replaces one. Its value is typed anew each time: it can't be read. */
export const SecretDialog = ({ secret, onClose }: { secret?: ListedSecret; onClose: () => void }) => {
  const client = useQueryClient();
  const [name, setName] = useState(secret?.name ?? "");
  const [value, setValue] = useState("");
  const [hosts, setHosts] = useState(secret?.hosts.join("\n") ?? "");
  const [failure, setFailure] = useState<string>();
  const [busy, setBusy] = useState(false);
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setFailure(undefined);
    try {
      await request("putSecret", { params: { name }, body: { value: value.trim(), hosts: listed(hosts) } });
      void client.invalidateQueries({ queryKey: ["secrets"] });
      onClose();
    } catch (error) {
      setFailure(messageOf(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog
      title={secret ? `Replace ${secret.name}` : "New secret"}
      width="md"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            form="secret"
            variant="primary"
            busy={busy}
            disabled={!NAME.test(name) || value.trim() === "" || listed(hosts).length === 0}
          >
            {secret ? "Replace" : "Save"}
          </Button>
        </>
      }
    >
      <form id="secret" className="flex flex-col gap-4" onSubmit={(event) => void submit(event)}>
        {failure !== undefined && <Notice kind="bad">{failure}</Notice>}
        {!secret && (
          <Field label="Name" hint={`HTTP nodes write {{secrets.${name || "NAME"}}}.`}>
            {(attributes) => (
              <Input
                {...attributes}
                autoFocus
                required
                maxLength={64}
                spellCheck={false}
                autoComplete="off"
                placeholder="STRIPE_KEY"
                className="font-mono text-xs"
                value={name}
                onChange={(event) => setName(named(event.target.value))}
              />
            )}
          </Field>
        )}
        <Field label="Value" hint="One line of at least 8 characters. It is kept encrypted, and never shown again.">
          {(attributes) => (
            <Input
              {...attributes}
              autoFocus={secret !== undefined}
              required
              type="password"
              autoComplete="off"
              value={value}
              onChange={(event) => setValue(event.target.value)}
            />
          )}
        </Field>
        <Field label="Hosts" hint="Where it may be sent, by https; one in a line: api.stripe.com, or with a port, api.example.com:8443.">
          {(attributes) => (
            <TextArea
              {...attributes}
              required
              rows={3}
              spellCheck={false}
              placeholder="api.stripe.com"
              className="font-mono text-xs"
              value={hosts}
              onChange={(event) => setHosts(event.target.value)}
            />
          )}
        </Field>
      </form>
    </Dialog>
  );
};
