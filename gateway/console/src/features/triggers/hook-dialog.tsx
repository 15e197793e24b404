import type { IssuedHook } from "@nodeloom/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { messageOf, request } from "../../api/client";
import { Button } from "../../ui/button";
import { Field, Input, TextArea } from "../../ui/inputs/field";
import { NumberInput } from "../../ui/inputs/value-inputs";
import { Notice } from "../../ui/notice";
import { Dialog } from "../../ui/overlays/dialog";
import { schemaQuery } from "./queries";

const EMPTY = { expression: "", header: "", secret: "", deliveryId: "" };

export interface HookDialogProps {
  slug: string;
  onIssued: (hook: IssuedHook) => void;
  onClose: () => void;
}

/** "Its inputs: prompt, seconds." */
const takenWords = (fields: readonly { name: string; required?: boolean }[]): string =>
  `Its inputs: ${fields.map(({ name, required }) => (required === true ? `${name} (needed)` : name)).join(", ")}.`;

/** Asks how what another service sends becomes a run. */
export const HookDialog = ({ slug, onIssued, onClose }: HookDialogProps) => {
  const client = useQueryClient();
  const fields = useQuery(schemaQuery(slug)).data?.fields ?? [];
  const [given, setGiven] = useState(EMPTY);
  const [maxCredits, setMaxCredits] = useState<number>();
  const [failure, setFailure] = useState<string>();
  const [busy, setBusy] = useState(false);
  const input = (name: keyof typeof EMPTY) => ({
    value: given[name],
    spellCheck: false,
    onChange: (event: { target: { value: string } }) => setGiven({ ...given, [name]: event.target.value }),
  });
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (maxCredits === undefined) return;
    setBusy(true);
    setFailure(undefined);
    const [header, deliveryIdHeader] = [given.header.trim(), given.deliveryId.trim()];
    const body = {
      expression: given.expression.trim(),
      maxCredits,
      ...(header === "" ? {} : { hmac: { header, secret: given.secret } }),
      ...(deliveryIdHeader === "" ? {} : { deliveryIdHeader }),
    };
    try {
      onIssued((await request("createHook", { params: { slug }, body })).body);
      void client.invalidateQueries({ queryKey: ["hooks"] });
      onClose();
    } catch (error) {
      setFailure(messageOf(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog
      title="New hook"
      width="md"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form="hook" variant="primary" busy={busy}>
            Make the hook
          </Button>
        </>
      }
    >
      <form id="hook" className="flex flex-col gap-4" onSubmit={(event) => void submit(event)}>
        {failure !== undefined && <Notice kind="bad">{failure}</Notice>}
        <p className="text-sm text-muted">{fields.length === 0 ? "The workflow has no inputs." : takenWords(fields)}</p>
        <Field label="Inputs from the body" hint="JMESPath to an object: { prompt: issue.title }. Empty: the body itself.">
          {(attributes) => <TextArea {...attributes} {...input("expression")} rows={3} className="font-mono text-xs" />}
        </Field>
        <Field label="Credits of a run at most" hint="A run that could cost more is refused.">
          {(attributes) => <NumberInput {...attributes} required value={maxCredits} onChange={setMaxCredits} />}
        </Field>
        <Field
          label="Header of the signature"
          hint="sha256= and the HMAC of the body; X-Hub-Signature-256 at GitHub. Empty: none is asked for."
        >
          {(attributes) => <Input {...attributes} {...input("header")} />}
        </Field>
        {given.header.trim() !== "" && (
          <Field label="Secret of the signature" hint="As the sender has it. It is kept encrypted, and never shown again.">
            {(attributes) => <Input {...attributes} {...input("secret")} type="password" autoComplete="off" required />}
          </Field>
        )}
        <Field
          label="Header of the delivery's id"
          hint="With it a delivery that is sent again is the same run; X-GitHub-Delivery at GitHub. Optional."
        >
          {(attributes) => <Input {...attributes} {...input("deliveryId")} />}
        </Field>
      </form>
    </Dialog>
  );
};
