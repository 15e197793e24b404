import type { Me, ServiceAccount } from "@nodeloom/client";
import { BY_NAME, CEILINGS, withinCeiling } from "@nodeloom/kernel/capabilities";
import { isBaseTier } from "@nodeloom/kernel/plans";
import { useState } from "react";
import { request } from "../../api/client";
import { ownerIdOf } from "../../api/organization";
import { ConfirmDialog, FormDialog } from "../../parts/form";
import { Check, InputField } from "../../ui/inputs/field";
import { namesIn } from "../../ui/inputs/typed";
import type { IssuedKey } from "./key-dialogs";
import { COMMON } from "../../messages/common";
import { SERVICE_ACCOUNT_DIALOGS } from "../../messages/service-accounts";

/** Queries that a change of service accounts makes out of date. */
export const READS = ["service-accounts", "keys"] as const;
const MAX_NAME_CHARS = 200;

/** Capabilities that a tier's service accounts can have. The service knows the bounds of custom tiers. */
const grantable = (tier: string): readonly string[] => {
  const base = isBaseTier(tier) ? tier : "enterprise";
  return [...CEILINGS[base], ...Object.keys(BY_NAME).filter((capability) => withinCeiling(capability, base))];
};

interface ChecksProps {
  all: readonly string[];
  chosen: readonly string[];
  onChoose: (chosen: readonly string[]) => void;
}

const CapabilityChecks = ({ all, chosen, onChoose }: ChecksProps) => (
  <fieldset className="flex flex-col gap-2 rounded-xl border p-3">
    <legend className="px-1 text-[13px] font-medium">{SERVICE_ACCOUNT_DIALOGS.permissions}</legend>
    {all.map((capability) => (
      <Check
        key={capability}
        label={<code className="font-mono text-xs">{capability}</code>}
        checked={chosen.includes(capability)}
        onCheck={(isOn) => onChoose(isOn ? [...chosen, capability] : chosen.filter((one) => one !== capability))}
      />
    ))}
  </fieldset>
);

interface DialogProps {
  me: Me;
  account: ServiceAccount;
  onClose: () => void;
}

/** Creates or changes a service account. */
export const ServiceAccountDialog = ({ me, account, onClose }: Omit<DialogProps, "account"> & { account?: ServiceAccount }) => {
  const all = grantable(me.user.tier);
  const [name, setName] = useState(account?.name ?? "");
  const [chosen, setChosen] = useState<readonly string[]>(account?.capabilities.filter((one) => all.includes(one)) ?? []);
  const [more, setMore] = useState(account?.capabilities.filter((one) => !all.includes(one)).join(", ") ?? "");
  const capabilities = [...new Set([...chosen, ...namesIn(more)])];
  const submit = async (): Promise<void> => {
    const body = { name: name.trim(), capabilities };
    const id = ownerIdOf(me);
    if (account) await request("updateServiceAccount", { params: { id, accountId: account.id }, body });
    else await request("createServiceAccount", { params: { id }, body });
  };
  return (
    <FormDialog
      title={account ? SERVICE_ACCOUNT_DIALOGS.changeAccount(account.name) : SERVICE_ACCOUNT_DIALOGS.newAccount}
      width="md"
      action={account ? COMMON.save : COMMON.create}
      disabled={name.trim() === "" || capabilities.length === 0}
      reads={READS}
      submit={submit}
      onClose={onClose}
    >
      <InputField
        label={COMMON.name}
        autoFocus
        required
        maxLength={MAX_NAME_CHARS}
        placeholder={SERVICE_ACCOUNT_DIALOGS.nameHint}
        value={name}
        onText={setName}
      />
      <CapabilityChecks all={all} chosen={chosen} onChoose={setChosen} />
      <p className="text-xs text-faint">{SERVICE_ACCOUNT_DIALOGS.permissionsHint}</p>
      <InputField
        label={SERVICE_ACCOUNT_DIALOGS.more}
        hint={SERVICE_ACCOUNT_DIALOGS.moreHint}
        spellCheck={false}
        value={more}
        onText={setMore}
      />
    </FormDialog>
  );
};

/** Creates a key of a service account, with some or all of its capabilities. */
export const ServiceKeyDialog = ({
  account: { id, name: accountName, capabilities },
  onIssued,
  onClose,
}: Omit<DialogProps, "me"> & { onIssued: (issued: IssuedKey) => void }) => {
  const [name, setName] = useState("");
  const [chosen, setChosen] = useState<readonly string[]>(capabilities);
  const submit = async (): Promise<void> => {
    const body = { name: name.trim(), serviceAccountId: id, capabilities: [...chosen] };
    onIssued((await request("createKey", { body })).body);
  };
  return (
    <FormDialog
      title={SERVICE_ACCOUNT_DIALOGS.newKey(accountName)}
      width="md"
      action={SERVICE_ACCOUNT_DIALOGS.createKey}
      disabled={name.trim() === "" || chosen.length === 0}
      reads={READS}
      submit={submit}
      onClose={onClose}
    >
      <InputField label={COMMON.name} autoFocus required maxLength={MAX_NAME_CHARS} value={name} onText={setName} />
      <CapabilityChecks all={capabilities} chosen={chosen} onChoose={setChosen} />
    </FormDialog>
  );
};

export const DeleteServiceAccountDialog = ({ me, account, onClose }: DialogProps) => (
  <ConfirmDialog
    title={SERVICE_ACCOUNT_DIALOGS.remove(account.name)}
    action={COMMON.delete}
    text={SERVICE_ACCOUNT_DIALOGS.removeHint}
    reads={READS}
    submit={() => request("deleteServiceAccount", { params: { id: ownerIdOf(me), accountId: account.id } })}
    successText={SERVICE_ACCOUNT_DIALOGS.removed}
    onClose={onClose}
  />
);
