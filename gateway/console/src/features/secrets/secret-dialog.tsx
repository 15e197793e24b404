import type { ListedSecret } from "@nodeloom/client";
import { ALIAS } from "@nodeloom/kernel/limits";
import { useState } from "react";
import { request } from "../../api/client";
import { FormDialog } from "../../parts/form";
import { AreaField, InputField } from "../../ui/inputs/field";

const NAME = /^[A-Z][A-Z0-9_]{0,63}$/;

/** Normalizes a typed name: capitals, and underscores for invalid characters. */
const named = (text: string): string => text.toUpperCase().replace(/[^A-Z0-9_]/g, "_");
const listed = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean);

/** Sets or replaces a secret. Its value can't be read, so it is typed again. */
export const SecretDialog = ({ secret, onClose }: { secret?: ListedSecret; onClose: () => void }) => {
  const [name, setName] = useState(secret?.name ?? "");
  const [value, setValue] = useState("");
  const [hosts, setHosts] = useState(secret?.hosts.join("\n") ?? "");
  const [alias, setAlias] = useState(secret?.alias ?? "");
  const submit = () => {
    const body = { value: value.trim(), hosts: listed(hosts), ...(alias === "" ? {} : { alias }) };
    return request("putSecret", { params: { name }, body });
  };
  return (
    <FormDialog
      title={secret ? `Replace ${[secret.name, secret.alias].filter(Boolean).join(" for ")}` : "New secret"}
      width="md"
      action={secret ? "Replace" : "Save"}
      disabled={!NAME.test(name) || !(alias === "" || ALIAS.test(alias)) || value.trim() === "" || listed(hosts).length === 0}
      reads={["secrets"]}
      submit={submit}
      onClose={onClose}
    >
      {!secret && (
        <InputField
          label="Name"
          hint={`HTTP nodes write {{secrets.${name || "NAME"}}}.`}
          autoFocus
          required
          maxLength={64}
          spellCheck={false}
          autoComplete="off"
          placeholder="STRIPE_KEY"
          className="font-mono text-xs"
          value={name}
          onText={(text) => setName(named(text))}
        />
      )}
      {!secret && (
        <InputField
          label="Alias"
          hint="Optional: only runs by this alias, such as staging, send this value."
          maxLength={32}
          spellCheck={false}
          autoComplete="off"
          value={alias}
          onText={setAlias}
        />
      )}
      <InputField
        label="Value"
        hint="One line of at least 8 characters. It is kept encrypted, and never shown again."
        autoFocus={secret !== undefined}
        required
        type="password"
        autoComplete="off"
        value={value}
        onText={setValue}
      />
      <AreaField
        label="Hosts"
        hint="Where it may be sent, by https; one in a line: api.stripe.com, or with a port, api.example.com:8443."
        required
        rows={3}
        spellCheck={false}
        placeholder="api.stripe.com"
        className="font-mono text-xs"
        value={hosts}
        onText={setHosts}
      />
    </FormDialog>
  );
};
