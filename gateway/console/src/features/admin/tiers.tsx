import { CAP_NAMES, CAPS, type CapName } from "@nodeloom/kernel/caps";
import { PLANS, TIERS } from "@nodeloom/kernel/plans";
import { useQuery } from "@tanstack/react-query";
import { Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { FormDialog } from "../../parts/form";
import { Loaded } from "../../parts/loaded";
import { request } from "../../api/client";
import { tiersQuery } from "./queries";
import { useChange } from "../../api/use-change";
import { Button, IconButton } from "../../ui/button";
import { InputField, SelectField } from "../../ui/inputs/field";
import { titled, whole } from "../../ui/format";
import { Table } from "../../ui/table";
import { COMMON } from "../../messages/common";
import { TIERS_TEXTS } from "../../messages/admin";

interface TierRow {
  id: string;
  base: string;
  rateLimitPerMinute: number | null;
  markup: number;
  monthlyCredits: number;
  concurrency: number;
  custom: boolean;
}

const MILLI = 1_000;
const BUILT_IN: readonly TierRow[] = TIERS.map((tier) => {
  const { base, rateLimitPerMinute, markupPermille, monthlyMillicredits, concurrency } = PLANS[tier];
  return {
    id: tier,
    base,
    rateLimitPerMinute,
    markup: markupPermille / MILLI,
    monthlyCredits: monthlyMillicredits / MILLI,
    concurrency,
    custom: false,
  };
});

/** An empty field takes the value of the tier that this one is based on. */
const capsOf = (data: FormData): Partial<Record<CapName, number>> =>
  Object.fromEntries(
    CAP_NAMES.flatMap((name) => {
      const value = String(data.get(name) ?? "");
      return value === "" ? [] : [[name, Number(value)]];
    }),
  );

const putTier = (data: FormData) => {
  const number = (name: string): number => Number(data.get(name));
  const body = {
    base: data.get("base") as "pro",
    rateLimitPerMinute: data.get("rate") === "" ? null : number("rate"),
    markup: number("markup"),
    monthlyCredits: number("monthlyCredits"),
    concurrency: number("concurrency"),
    caps: capsOf(data),
  };
  return request("adminPutTier", { params: { id: String(data.get("id")) }, body });
};

const NewTier = ({ onClose }: { onClose: () => void }) => (
  <FormDialog
    title={TIERS_TEXTS.newPlan}
    action={COMMON.save}
    reads={["tiers"]}
    submit={putTier}
    successText={TIERS_TEXTS.planSaved}
    onClose={onClose}
  >
    <InputField label={TIERS_TEXTS.id} hint={TIERS_TEXTS.slugHint} name="id" required autoFocus pattern="[a-z0-9]+(-[a-z0-9]+)*" />
    <SelectField
      label={TIERS_TEXTS.basedOn}
      name="base"
      options={["pro", "business", "enterprise"].map((tier) => [tier, titled(tier)] as const)}
    />
    <InputField label={TIERS_TEXTS.requestsPerMinute} hint={TIERS_TEXTS.limitHint} name="rate" type="number" min="1" />
    <InputField label={TIERS_TEXTS.markup} name="markup" type="number" step="0.001" min="1" required defaultValue="1.3" />
    <InputField label={TIERS_TEXTS.creditsPerMonth} name="monthlyCredits" type="number" min="0" step="any" required defaultValue="10000" />
    <InputField label={TIERS_TEXTS.concurrentRuns} name="concurrency" type="number" min="1" required defaultValue="50" />
    <details>
      <summary className="cursor-pointer text-sm">{TIERS_TEXTS.caps}</summary>
      <p className="my-2 text-xs text-faint">{TIERS_TEXTS.capsHint}</p>
      <div className="grid gap-3 sm:grid-cols-2">
        {CAP_NAMES.map((name) => (
          <InputField
            key={name}
            label={TIERS_TEXTS.capLabels[name]}
            hint={TIERS_TEXTS.atMost(whole(CAPS[name].ceiling))}
            name={name}
            type="number"
            min="1"
            max={CAPS[name].ceiling}
          />
        ))}
      </div>
    </details>
  </FormDialog>
);

export const TiersSection = () => {
  const tiers = useQuery(tiersQuery);
  const [adding, setAdding] = useState(false);
  const { busy, run } = useChange("tiers");
  return (
    <>
      <div className="mb-4 flex justify-end">
        <Button icon={Plus} onClick={() => setAdding(true)}>
          {TIERS_TEXTS.newPlan}
        </Button>
      </div>
      <Loaded of={tiers} lines={6}>
        {(custom) => (
          <Table<TierRow>
            label={COMMON.plans}
            rows={[...BUILT_IN, ...custom.map((tier) => ({ ...tier, custom: true }))]}
            keyOf={({ id }) => id}
            columns={[
              { title: COMMON.plan, cell: ({ id }) => <span className="font-medium">{titled(id)}</span> },
              { title: TIERS_TEXTS.basedOn, wide: true, cell: ({ base }) => titled(base) },
              {
                title: TIERS_TEXTS.requestsPerMinute,
                numeric: true,
                wide: true,
                cell: ({ rateLimitPerMinute }) => (rateLimitPerMinute === null ? TIERS_TEXTS.unlimited : whole(rateLimitPerMinute)),
              },
              { title: TIERS_TEXTS.markup, numeric: true, cell: ({ markup }) => `× ${markup}` },
              { title: TIERS_TEXTS.creditsPerMonth, numeric: true, cell: ({ monthlyCredits }) => whole(monthlyCredits) },
              { title: TIERS_TEXTS.concurrentRuns, numeric: true, wide: true, cell: ({ concurrency }) => whole(concurrency) },
              {
                title: COMMON.actions,
                numeric: true,
                cell: ({ id, custom }) =>
                  custom ? (
                    <IconButton
                      icon={Trash2}
                      size="sm"
                      label={TIERS_TEXTS.deletePlan(id)}
                      disabled={busy}
                      onClick={() => void run(() => request("adminDeleteTier", { params: { id } }), TIERS_TEXTS.planDeleted)}
                    />
                  ) : null,
              },
            ]}
          />
        )}
      </Loaded>
      {adding && <NewTier onClose={() => setAdding(false)} />}
    </>
  );
};
