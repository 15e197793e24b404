import { PLANS, TIERS } from "@nodeloom/kernel/plans";
import { useQuery } from "@tanstack/react-query";
import { Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { LoadFailure } from "../../parts/error-pages";
import { request } from "../../api/client";
import { tiersQuery } from "../../api/queries";
import { useAction } from "../../api/use-action";
import { Button, IconButton } from "../../ui/button";
import { Dialog } from "../../ui/overlays/dialog";
import { Field, Input, Select } from "../../ui/inputs/field";
import { whole } from "../../ui/format";
import { Skeleton } from "../../ui/notice";
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

const NewTier = ({ onClose }: { onClose: () => void }) => {
  const { busy, run } = useAction(["tiers"]);
  return (
    <Dialog
      title="New tier"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form="tier" variant="primary" busy={busy}>
            Save
          </Button>
        </>
      }
    >
      <form
        id="tier"
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          const data = new FormData(event.currentTarget);
          const number = (name: string): number => Number(data.get(name));
          const rate = String(data.get("rate"));
          const body = {
            base: data.get("base") as "pro",
            rateLimitPerMinute: rate === "" ? null : Number(rate),
            markup: number("markup"),
            monthlyCredits: number("monthlyCredits"),
            concurrency: number("concurrency"),
          };
          void run(() => request("adminPutTier", { params: { id: String(data.get("id")) }, body }), "The tier was saved.").then(
            (answer) => answer && onClose(),
          );
        }}
      >
        <Field label="Id" hint="Lower-case letters, digits and hyphens.">
          {(attributes) => <Input {...attributes} name="id" required autoFocus pattern="[a-z0-9]+(-[a-z0-9]+)*" />}
        </Field>
        <Field label="Ceiling of">
          {(attributes) => (
            <Select {...attributes} name="base">
              <option>pro</option>
              <option>business</option>
              <option>enterprise</option>
            </Select>
          )}
        </Field>
        <Field label="Requests a minute" hint="Empty: unlimited.">
          {(attributes) => <Input {...attributes} name="rate" type="number" min="1" />}
        </Field>
        <Field label="Markup">
          {(attributes) => <Input {...attributes} name="markup" type="number" step="0.001" min="1" required defaultValue="1.3" />}
        </Field>
        <Field label="Credits a month">
          {(attributes) => <Input {...attributes} name="monthlyCredits" type="number" min="0" step="any" required defaultValue="10000" />}
        </Field>
        <Field label="Runs at once">
          {(attributes) => <Input {...attributes} name="concurrency" type="number" min="1" required defaultValue="50" />}
        </Field>
      </form>
    </Dialog>
  );
};

export const TiersSection = () => {
  const tiers = useQuery(tiersQuery);
  const [adding, setAdding] = useState(false);
  const { busy, run } = useAction(["tiers"]);
  if (tiers.isPending) return <Skeleton lines={6} />;
  if (tiers.isError) return <LoadFailure error={tiers.error} retry={() => void tiers.refetch()} />;
  return (
    <>
      <div className="mb-4 flex justify-end">
        <Button icon={Plus} onClick={() => setAdding(true)}>
          New tier
        </Button>
      </div>
      <Table<TierRow>
        label="Tiers"
        rows={[...BUILT_IN, ...tiers.data.map((tier) => ({ ...tier, custom: true }))]}
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
      {adding && <NewTier onClose={() => setAdding(false)} />}
    </>
  );
};
