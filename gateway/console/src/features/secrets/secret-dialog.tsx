import type { ListedSecret } from "@nodeloom/client";
import { ALIAS } from "@nodeloom/kernel/limits";
import { useState } from "react";
import { request } from "../../api/client";
import { FormDialog } from "../../parts/form";
import { AreaField, InputField } from "../../ui/inputs/field";
import { namesIn } from "../../ui/inputs/typed";
import { COMMON } from "../../messages/common";
import { SECRET_DIALOG } from "../../messages/secrets";

const NAME = /^[A-Z][A-Z0-9_]{0,63}$/;

/** Normalizes a typed name to capitals, with underscores for invalid characters. */
const secretName = (text: string): string => text.toUpperCase().replace(/[^A-Z0-9_]/g, "_");

/** Sets or replaces a secret. Its value can't be read, so the user types it again. */
export const SecretDialog = ({ secret, onClose }: { secret?: ListedSecret; onClose: () => void }) => {
  const [name, setName] = useState(secret?.name ?? "");
  const [value, setValue] = useState("");
  const [hosts, setHosts] = useState(secret?.hosts.join("\n") ?? "");
  const [workflows, setWorkflows] = useState(secret?.workflows?.join("\n") ?? "");
  const [alias, setAlias] = useState(secret?.alias ?? "");
  const submit = () => {
    const slugs = namesIn(workflows);
    const limits = { ...(alias === "" ? {} : { alias }), ...(slugs.length === 0 ? {} : { workflows: slugs }) };
    const body = { value: value.trim(), hosts: namesIn(hosts), ...limits };
    return request("putSecret", { params: { name }, body });
  };
  return (
    <FormDialog
      title={secret ? SECRET_DIALOG.replace([secret.name, secret.alias].filter(Boolean).join(" for ")) : SECRET_DIALOG.newSecret}
      width="md"
      action={secret ? SECRET_DIALOG.confirmReplace : COMMON.save}
      disabled={!NAME.test(name) || !(alias === "" || ALIAS.test(alias)) || value.trim() === "" || namesIn(hosts).length === 0}
      reads={["secrets"]}
      submit={submit}
      onClose={onClose}
    >
      {!secret && (
        <InputField
          label={COMMON.name}
          hint={SECRET_DIALOG.placeholder(name || "NAME")}
          autoFocus
          required
          maxLength={64}
          spellCheck={false}
          autoComplete="off"
          placeholder={SECRET_DIALOG.stripeKey}
          className="font-mono text-xs"
          value={name}
          onText={(text) => setName(secretName(text))}
        />
      )}
      {!secret && (
        <InputField
          label={SECRET_DIALOG.alias}
          hint={SECRET_DIALOG.aliasHint}
          maxLength={32}
          spellCheck={false}
          autoComplete="off"
          value={alias}
          onText={setAlias}
        />
      )}
      <InputField
        label={COMMON.value}
        hint={SECRET_DIALOG.valueHint}
        autoFocus={secret !== undefined}
        required
        type="password"
        autoComplete="off"
        value={value}
        onText={setValue}
      />
      <AreaField
        label={SECRET_DIALOG.hosts}
        hint={SECRET_DIALOG.hostsHint}
        required
        rows={3}
        spellCheck={false}
        placeholder={SECRET_DIALOG.apiStripeCom}
        className="font-mono text-xs"
        value={hosts}
        onText={setHosts}
      />
      <AreaField
        label={SECRET_DIALOG.workflows}
        hint={SECRET_DIALOG.workflowsHint}
        rows={2}
        spellCheck={false}
        className="font-mono text-xs"
        value={workflows}
        onText={setWorkflows}
      />
    </FormDialog>
  );
};
