import type { Me, NewApiKey } from "@nodeloom/client";
import { CEILINGS, isCapability, PRESETS, presetCapabilities, withinCeiling, type Preset } from "@nodeloom/kernel/capabilities";
import { isBaseTier, type BaseTier } from "@nodeloom/kernel/plans";
import { useState } from "react";
import { request } from "../../api/client";
import { FormDialog } from "../../parts/form";
import { Check, InputField, SelectField } from "../../ui/inputs/field";
import type { Issued } from "./key-dialogs";

const NAMES: Readonly<Record<Preset, string>> = {
  "read-only": "Read-only",
  "workflow-deploy": "Workflow Deploy",
  "webhook-receiver": "Webhook receiver",
  "full-deploy": "Full deploy",
};
const LIVES = [
  ["", "Never"],
  ["30", "After 30 days"],
  ["90", "After 90 days"],
  ["365", "After a year"],
] as const;
const DAY_MS = 86_400_000;

/** Base of a tier; only the service knows that of custom tiers. */
const baseOf = (tier: string): BaseTier => (isBaseTier(tier) ? tier : "enterprise");

const FOLLOW = "run-and-follow";
interface Grants {
  preset: Preset | typeof FOLLOW | "custom";
  chosen: ReadonlySet<string>;
  more: string;
}

const specific = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean);

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
  const wrong = specific(grants.more).filter((capability) => !isCapability(capability) || !withinCeiling(capability, base, isAdmin));
  return (
    <fieldset className="flex flex-col gap-2 rounded-xl border p-3">
      <legend className="px-1 text-[13px] font-medium">Grants</legend>
      {CEILINGS[isAdmin ? "enterprise" : base].map((capability) => (
        <Check
          key={capability}
          label={<code className="font-mono text-xs">{capability}</code>}
          checked={grants.chosen.has(capability)}
          onChange={(event) => {
            const chosen = new Set(grants.chosen);
            if (event.target.checked) chosen.add(capability);
            else chosen.delete(capability);
            onChange({ ...grants, chosen });
          }}
        />
      ))}
      <InputField
        label="More"
        hint="Single ones: workflow:my-slug:run, model:my-model:run"
        error={wrong.length > 0 ? `not grantable: ${wrong.join(", ")}` : undefined}
        spellCheck={false}
        value={grants.more}
        onText={(text) => onChange({ ...grants, more: text })}
      />
    </fieldset>
  );
};

export const NewKeyDialog = ({ me, onIssued, onClose }: { me: Me; onIssued: (issued: Issued) => void; onClose: () => void }) => {
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
  const named = preset === "custom" || preset === FOLLOW ? undefined : preset;
  const own = preset === FOLLOW ? RUN_AND_FOLLOW : [...grants.chosen, ...specific(grants.more)];
  const capabilities = named === undefined ? own : presetCapabilities(named, base, isAdmin);
  const submit = async (): Promise<void> => {
    const body: NewApiKey = {
      name: name.trim(),
      ...(named === undefined ? { capabilities: [...own] } : { preset: named }),
      ...(life === "" ? {} : { expiresAt: new Date(Date.now() + Number(life) * DAY_MS).toISOString() }),
      ...(webhook.trim() === "" ? {} : { webhook: { url: webhook.trim() } }),
    };
    onIssued((await request("createKey", { body })).body);
  };
  return (
    <FormDialog
      title="New API key"
      width="md"
      action="Make the key"
      disabled={name.trim() === "" || capabilities.length === 0}
      reads={["keys"]}
      submit={submit}
      onClose={onClose}
    >
      <InputField label="Name" autoFocus required maxLength={200} placeholder="What will use it" value={name} onText={setName} />
      <SelectField
        label="What it may do"
        hint={capabilities.join(", ") || "nothing yet"}
        value={grants.preset}
        onText={(text) => setGrants({ ...grants, preset: text as Grants["preset"] })}
      >
        <option value={FOLLOW}>Run workflows, and follow the runs</option>
        {PRESETS.map((one) => (
          <option key={one} value={one}>
            {NAMES[one]}
          </option>
        ))}
        <option value="custom">Custom</option>
      </SelectField>
      {grants.preset === "custom" && <CustomGrants grants={grants} base={base} isAdmin={isAdmin} onChange={setGrants} />}
      {grants.preset === "workflow-deploy" && (
        <p className="text-xs text-faint">
          It can start runs but not poll them: for asynchronous runs choose “Run workflows, and follow the runs”.
        </p>
      )}
      <SelectField label="Expires" value={life} onText={setLife} options={LIVES} />
      <InputField
        label="Webhook"
        hint="Called when an asynchronous run of this key ends; needs webhook:receive. Optional."
        type="url"
        placeholder="https://example.com/hook"
        value={webhook}
        onText={setWebhook}
      />
    </FormDialog>
  );
};
