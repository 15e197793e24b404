import type { Me, NewApiKey } from "@nodeloom/client";
import { CEILINGS, isCapability, PRESETS, presetCapabilities, withinCeiling, type Preset } from "@nodeloom/kernel/capabilities";
import { isBaseTier, type BaseTier } from "@nodeloom/kernel/plans";
import { useState } from "react";
import { request } from "../../api/client";
import { FormDialog } from "../../parts/form";
import { Check, InputField, SelectField } from "../../ui/inputs/field";
import { namesIn } from "../../ui/inputs/typed";
import type { IssuedKey } from "./key-dialogs";
import { COMMON } from "../../messages/common";
import { NEW_KEY_DIALOG } from "../../messages/keys";

const NAMES: Readonly<Record<Preset, string>> = {
  "read-only": NEW_KEY_DIALOG.readOnly,
  "workflow-deploy": NEW_KEY_DIALOG.deployWorkflows,
  "webhook-receiver": NEW_KEY_DIALOG.receiveWebhooks,
  "full-deploy": NEW_KEY_DIALOG.fullAccess,
};
const LIVES = [
  ["", NEW_KEY_DIALOG.never],
  ["30", NEW_KEY_DIALOG.expiresAfterMonth],
  ["90", NEW_KEY_DIALOG.expiresAfterQuarter],
  ["365", NEW_KEY_DIALOG.afterAYear],
] as const;
const DAY_MS = 86_400_000;

/** Base of a tier. For custom tiers only the service knows it. */
const baseOf = (tier: string): BaseTier => (isBaseTier(tier) ? tier : "enterprise");

const FOLLOW = "run-and-follow";
interface Grants {
  preset: Preset | typeof FOLLOW | "custom";
  chosen: ReadonlySet<string>;
  more: string;
}

/** Most common use of keys, besides presets: start and follow runs. */
const RUN_AND_FOLLOW = ["workflow:run", "workflow:read", "execution:read"] as const;

const CustomGrants = ({
  grants,
  base,
  isAdmin,
  onChange,
}: {
  grants: Grants;
  base: BaseTier;
  isAdmin: boolean;
  onChange: (grants: Grants) => void;
}) => {
  const wrong = namesIn(grants.more).filter((capability) => !isCapability(capability) || !withinCeiling(capability, base, isAdmin));
  return (
    <fieldset className="flex flex-col gap-2 rounded-xl border p-3">
      <legend className="px-1 text-[13px] font-medium">{NEW_KEY_DIALOG.permissions}</legend>
      {CEILINGS[isAdmin ? "enterprise" : base].map((capability) => (
        <Check
          key={capability}
          label={<code className="font-mono text-xs">{capability}</code>}
          checked={grants.chosen.has(capability)}
          onChange={(event) => {
            const chosenCapabilities = new Set(grants.chosen);
            if (event.target.checked) chosenCapabilities.add(capability);
            else chosenCapabilities.delete(capability);
            onChange({ ...grants, chosen: chosenCapabilities });
          }}
        />
      ))}
      <InputField
        label={NEW_KEY_DIALOG.morePermissions}
        hint={NEW_KEY_DIALOG.capabilitiesHint}
        error={wrong.length > 0 ? NEW_KEY_DIALOG.youCantGrant(wrong.join(", ")) : undefined}
        spellCheck={false}
        value={grants.more}
        onText={(text) => onChange({ ...grants, more: text })}
      />
    </fieldset>
  );
};

export const NewKeyDialog = ({ me, onIssued, onClose }: { me: Me; onIssued: (issued: IssuedKey) => void; onClose: () => void }) => {
  const isAdmin = me.user.role === "admin";
  const base = baseOf(me.user.tier);
  const [name, setName] = useState("");
  const [life, setLife] = useState("");
  const [webhook, setWebhook] = useState("");
  const [grants, setGrants] = useState<Grants>({
    preset: FOLLOW,
    chosen: new Set(RUN_AND_FOLLOW),
    more: "",
  });
  const { preset } = grants;
  const presetName = preset === "custom" || preset === FOLLOW ? undefined : preset;
  const own = preset === FOLLOW ? RUN_AND_FOLLOW : [...grants.chosen, ...namesIn(grants.more)];
  const capabilities = presetName === undefined ? own : presetCapabilities(presetName, base, isAdmin);
  const submit = async (): Promise<void> => {
    const body: NewApiKey = {
      name: name.trim(),
      ...(presetName === undefined ? { capabilities: [...own] } : { preset: presetName }),
      ...(life === "" ? {} : { expiresAt: new Date(Date.now() + Number(life) * DAY_MS).toISOString() }),
      ...(webhook.trim() === "" ? {} : { webhook: { url: webhook.trim() } }),
    };
    onIssued((await request("createKey", { body })).body);
  };
  return (
    <FormDialog
      title={NEW_KEY_DIALOG.newApiKey}
      width="md"
      action={NEW_KEY_DIALOG.createKey}
      disabled={name.trim() === "" || capabilities.length === 0}
      reads={["keys"]}
      submit={submit}
      onClose={onClose}
    >
      <InputField
        label={COMMON.name}
        autoFocus
        required
        maxLength={200}
        placeholder={NEW_KEY_DIALOG.nameHint}
        value={name}
        onText={setName}
      />
      <SelectField
        label={NEW_KEY_DIALOG.permissions}
        hint={capabilities.join(", ") || NEW_KEY_DIALOG.none}
        value={grants.preset}
        onText={(text) => setGrants({ ...grants, preset: text as Grants["preset"] })}
      >
        <option value={FOLLOW}>{NEW_KEY_DIALOG.runWorkflowsAndReadRuns}</option>
        {PRESETS.map((one) => (
          <option key={one} value={one}>
            {NAMES[one]}
          </option>
        ))}
        <option value="custom">{NEW_KEY_DIALOG.custom}</option>
      </SelectField>
      {grants.preset === "custom" && <CustomGrants grants={grants} base={base} isAdmin={isAdmin} onChange={setGrants} />}
      {grants.preset === "workflow-deploy" && <p className="text-xs text-faint">{NEW_KEY_DIALOG.cantReadRuns}</p>}
      <SelectField label={NEW_KEY_DIALOG.expires} value={life} onText={setLife} options={LIVES} />
      <InputField
        label={COMMON.webhook}
        hint={NEW_KEY_DIALOG.webhookHint}
        type="url"
        placeholder="https://example.com/hook"
        value={webhook}
        onText={setWebhook}
      />
    </FormDialog>
  );
};
