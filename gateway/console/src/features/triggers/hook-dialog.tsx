import type { IssuedHook } from "@nodeloom/client";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { request } from "../../api/client";
import { FormDialog } from "../../parts/form";
import { AreaField, InputField } from "../../ui/inputs/field";
import { NumberField } from "../../ui/inputs/value-inputs";
import { schemaQuery } from "./queries";
import { HOOK_DIALOG } from "../../messages/triggers";

const EMPTY = { expression: "", header: "", secret: "", deliveryId: "" };

export interface HookDialogProps {
  slug: string;
  onIssued: (hook: IssuedHook) => void;
  onClose: () => void;
}

/** Text such as "Its inputs: prompt, seconds.". */
const takenWords = (fields: readonly { name: string; required?: boolean }[]): string =>
  HOOK_DIALOG.inputs(fields.map(({ name, required }) => (required === true ? `${name} (required)` : name)).join(", "));

export const HookDialog = ({ slug, onIssued, onClose }: HookDialogProps) => {
  const fields = useQuery(schemaQuery(slug)).data?.fields ?? [];
  const [hookFields, setGiven] = useState(EMPTY);
  const [maxCredits, setMaxCredits] = useState<number>();
  const input = (name: keyof typeof EMPTY) => ({
    value: hookFields[name],
    spellCheck: false,
    onText: (text: string) => setGiven({ ...hookFields, [name]: text }),
  });
  const submit = async (): Promise<false | void> => {
    if (maxCredits === undefined) return false;
    const [header, deliveryIdHeader] = [hookFields.header.trim(), hookFields.deliveryId.trim()];
    const body = {
      expression: hookFields.expression.trim(),
      maxCredits,
      ...(header === "" ? {} : { hmac: { header, secret: hookFields.secret } }),
      ...(deliveryIdHeader === "" ? {} : { deliveryIdHeader }),
    };
    onIssued((await request("createHook", { params: { slug }, body })).body);
  };
  return (
    <FormDialog title={HOOK_DIALOG.newHook} width="md" action={HOOK_DIALOG.createHook} reads={["hooks"]} submit={submit} onClose={onClose}>
      <p className="text-sm text-muted">{fields.length === 0 ? HOOK_DIALOG.noInputs : takenWords(fields)}</p>
      <AreaField
        label={HOOK_DIALOG.inputsFromTheBody}
        hint={HOOK_DIALOG.inputsHint}
        {...input("expression")}
        rows={3}
        className="font-mono text-xs"
      />
      <NumberField
        label={HOOK_DIALOG.creditLimitPerRun}
        hint={HOOK_DIALOG.creditLimitHint}
        required
        value={maxCredits}
        onChange={setMaxCredits}
      />
      <InputField label={HOOK_DIALOG.signatureHeader} hint={HOOK_DIALOG.signatureHint} {...input("header")} />
      {hookFields.header.trim() !== "" && (
        <InputField
          label={HOOK_DIALOG.signatureSecret}
          hint={HOOK_DIALOG.secretHint}
          {...input("secret")}
          type="password"
          autoComplete="off"
          required
        />
      )}
      <InputField label={HOOK_DIALOG.deliveryIdHeader} hint={HOOK_DIALOG.deliveryIdHint} {...input("deliveryId")} />
    </FormDialog>
  );
};
