import type { IssuedHook } from "@nodeloom/client";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { request } from "../../api/client";
import { FormDialog } from "../../parts/form";
import { AreaField, InputField } from "../../ui/inputs/field";
import { NumberField } from "../../ui/inputs/value-inputs";
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

export const HookDialog = ({ slug, onIssued, onClose }: HookDialogProps) => {
  const fields = useQuery(schemaQuery(slug)).data?.fields ?? [];
  const [given, setGiven] = useState(EMPTY);
  const [maxCredits, setMaxCredits] = useState<number>();
  const input = (name: keyof typeof EMPTY) => ({
    value: given[name],
    spellCheck: false,
    onText: (text: string) => setGiven({ ...given, [name]: text }),
  });
  const submit = async (): Promise<false | void> => {
    if (maxCredits === undefined) return false;
    const [header, deliveryIdHeader] = [given.header.trim(), given.deliveryId.trim()];
    const body = {
      expression: given.expression.trim(),
      maxCredits,
      ...(header === "" ? {} : { hmac: { header, secret: given.secret } }),
      ...(deliveryIdHeader === "" ? {} : { deliveryIdHeader }),
    };
    onIssued((await request("createHook", { params: { slug }, body })).body);
  };
  return (
    <FormDialog title="New hook" width="md" action="Make the hook" reads={["hooks"]} submit={submit} onClose={onClose}>
      <p className="text-sm text-muted">{fields.length === 0 ? "The workflow has no inputs." : takenWords(fields)}</p>
      <AreaField
        label="Inputs from the body"
        hint="JMESPath to an object: { prompt: issue.title }. Empty: the body itself."
        {...input("expression")}
        rows={3}
        className="font-mono text-xs"
      />
      <NumberField
        label="Credits of a run at most"
        hint="A run that could cost more is refused."
        required
        value={maxCredits}
        onChange={setMaxCredits}
      />
      <InputField
        label="Header of the signature"
        hint="sha256= and the HMAC of the body; X-Hub-Signature-256 at GitHub. Empty: none is asked for."
        {...input("header")}
      />
      {given.header.trim() !== "" && (
        <InputField
          label="Secret of the signature"
          hint="As the sender has it. It is kept encrypted, and never shown again."
          {...input("secret")}
          type="password"
          autoComplete="off"
          required
        />
      )}
      <InputField
        label="Header of the delivery's id"
        hint="With it a delivery that is sent again is the same run; X-GitHub-Delivery at GitHub. Optional."
        {...input("deliveryId")}
      />
    </FormDialog>
  );
};
