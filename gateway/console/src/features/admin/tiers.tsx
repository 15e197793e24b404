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
import { whole } from "../../ui/format";
import { Table } from "../../ui/table";

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

const putTier = (data: FormData) => {
  const number = (name: string): number => Number(data.get(name));
  const body = {
    base: data.get("base") as "pro",
    rateLimitPerMinute: data.get("rate") === "" ? null : number("rate"),
    markup: number("markup"),
    monthlyCredits: number("monthlyCredits"),
    concurrency: number("concurrency"),
  };
  return request("adminPutTier", { params: { id: String(data.get("id")) }, body });
};

const NewTier = ({ onClose }: { onClose: () => void }) => (
  <FormDialog title="New tier" action="Save" reads={["tiers"]} submit={putTier} done="The tier was saved." onClose={onClose}>
    <InputField label="Id" hint="Lower-case letters, digits and hyphens." name="id" required autoFocus pattern="[a-z0-9]+(-[a-z0-9]+)*" />
    <SelectField label="Ceiling of" name="base" options={["pro", "business", "enterprise"]} />
    <InputField label="Requests a minute" hint="Empty: unlimited." name="rate" type="number" min="1" />
    <InputField label="Markup" name="markup" type="number" step="0.001" min="1" required defaultValue="1.3" />
    <InputField label="Credits a month" name="monthlyCredits" type="number" min="0" step="any" required defaultValue="10000" />
    <InputField label="Runs at once" name="concurrency" type="number" min="1" required defaultValue="50" />
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
          New tier
        </Button>
      </div>
      <Loaded of={tiers} lines={6}>
        {(custom) => (
          <Table<TierRow>
            label="Tiers"
            rows={[...BUILT_IN, ...custom.map((tier) => ({ ...tier, custom: true }))]}
            keyOf={({ id }) => id}
            columns={[
              { title: "Tier", cell: ({ id }) => <span className="font-medium">{id}</span> },
              { title: "Ceiling", wide: true, cell: ({ base }) => base },
              {
                title: "Requests a minute",
                numeric: true,
                wide: true,
                cell: ({ rateLimitPerMinute }) => (rateLimitPerMinute === null ? "unlimited" : whole(rateLimitPerMinute)),
              },
              { title: "Markup", numeric: true, cell: ({ markup }) => `× ${markup}` },
              { title: "Credits a month", numeric: true, cell: ({ monthlyCredits }) => whole(monthlyCredits) },
              { title: "At once", numeric: true, wide: true, cell: ({ concurrency }) => whole(concurrency) },
              {
                title: "Actions",
                numeric: true,
                cell: ({ id, custom }) =>
                  custom ? (
                    <IconButton
                      icon={Trash2}
                      size="sm"
                      label={`Delete the tier ${id}`}
                      disabled={busy}
                      onClick={() => void run(() => request("adminDeleteTier", { params: { id } }), "The tier was deleted.")}
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
