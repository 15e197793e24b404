import type { BatchQuote, SchemaField } from "@nodeloom/client";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { FileSpreadsheet, X } from "lucide-react";
import { useState, type DragEvent } from "react";
import { api, issuesOf, messageOf, type ApiIssue } from "../../api/client";
import { workflowsQuery } from "../../api/queries";
import { Button, ButtonRow, IconButton } from "../../ui/button";
import { classes } from "../../ui/classes";
import { credits } from "../../ui/format";
import { InputField, SelectField } from "../../ui/inputs/field";
import { Notice } from "../../ui/notice";
import { Card } from "../../ui/page";
import { inputsOf, matchColumns, readTable, type Mapping, type TableFile } from "./table-file";
import { COMMON } from "../../messages/common";
import { NEW_BATCH } from "../../messages/batches";

const SHOWN_PROBLEMS = 8;
/** The first line has the column names. */
const FIRST_ROW = 2;

const Drop = ({ table, onFile }: { table: TableFile | undefined; onFile: (file: File) => void }) => {
  const [isOver, setOver] = useState(false);
  const drop = (event: DragEvent): void => {
    event.preventDefault();
    setOver(false);
    const file = event.dataTransfer.files[0];
    if (file) onFile(file);
  };
  return (
    <label
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
      className={classes(
        "flex cursor-pointer flex-col items-center gap-1.5 rounded-xl border border-dashed px-4 py-6 text-center text-sm focus-within:border-accent",
        isOver ? "border-accent bg-accent-soft" : "border-line-strong/60 hover:bg-hover",
      )}
    >
      <FileSpreadsheet className="size-5 text-muted" aria-hidden />
      <span className="font-medium">{table ? table.name : NEW_BATCH.chooseFile}</span>
      <span className="text-xs text-muted">
        {table ? NEW_BATCH.tableSize(table.rows.length, table.columns.length) : NEW_BATCH.fileHint}
      </span>
      <input
        type="file"
        accept=".csv,text/csv"
        className="sr-only"
        onChange={(event) => {
          const file = event.target.files?.[0];
          event.target.value = "";
          if (file) onFile(file);
        }}
      />
    </label>
  );
};

const Columns = ({
  fields,
  table,
  mapping,
  onChange,
}: {
  fields: readonly SchemaField[];
  table: TableFile;
  mapping: Mapping;
  onChange: (mapping: Mapping) => void;
}) => (
  <div className="grid gap-3 sm:grid-cols-2">
    {fields.map(({ name, label, required }) => (
      <SelectField
        key={name}
        label={label || name}
        hint={mapping[name] === undefined ? undefined : NEW_BATCH.example(table.rows[0]?.[mapping[name]] ?? "")}
        value={mapping[name] ?? ""}
        onChange={({ target }) => {
          const { [name]: _, ...others } = mapping;
          onChange(target.value === "" ? others : { ...others, [name]: target.value });
        }}
        options={table.columns}
      >
        <option value="">{required ? NEW_BATCH.chooseAColumn : NEW_BATCH.useTheDefault}</option>
      </SelectField>
    ))}
  </div>
);

const rowOf = ({ index, path, message }: ApiIssue & { index?: number }): string =>
  `${index === undefined ? "" : NEW_BATCH.line(index + FIRST_ROW)}${path ? `${path.replace(/^inputs\./, "")} ` : ""}${message}`;

const Problems = ({ error }: { error: unknown }) => {
  const issues = issuesOf(error);
  return (
    <Notice kind="bad" title={issues.length > 0 ? NEW_BATCH.rowsInvalid : NEW_BATCH.notStarted}>
      {issues.length === 0
        ? messageOf(error)
        : issues.slice(0, SHOWN_PROBLEMS).map((issue) => <div key={rowOf(issue)}>{rowOf(issue)}</div>)}
      {issues.length > SHOWN_PROBLEMS && <div>{NEW_BATCH.andMore(issues.length - SHOWN_PROBLEMS)}</div>}
    </Notice>
  );
};

const Price = ({ quote }: { quote: BatchQuote }) => (
  <Notice title={NEW_BATCH.price(quote.total, credits(quote.estimatedCreditCost), quote.exact)}>
    {quote.exact ? NEW_BATCH.priceExact : NEW_BATCH.priceAtMost(credits(quote.maxCreditCost))}
  </Notice>
);

/** Dialog to create a batch: workflow, file, columns, price and start. */
export const NewBatch = ({ workflow, onClose }: { workflow?: string | undefined; onClose: () => void }) => {
  const navigate = useNavigate();
  const workflows = useQuery(workflowsQuery);
  const [slug, setSlug] = useState(workflow ?? "");
  const [table, setTable] = useState<TableFile>();
  const [chosenMapping, setChosen] = useState<Mapping>();
  const [limit, setLimit] = useState("");
  const schema = useQuery({
    queryKey: ["schema", slug],
    queryFn: ({ signal }) => api.workflows.schema(slug, { signal }),
    enabled: slug !== "",
  });
  const fields = schema.data?.fields ?? [];
  const mapping = chosenMapping ?? (table ? matchColumns(fields, table.columns) : {});
  const isReady = slug !== "" && table !== undefined && schema.data !== undefined;
  const maxCredits = limit.trim() === "" ? undefined : Number(limit);

  const order = () => ({ inputs: inputsOf(table!, fields, mapping), ...(maxCredits === undefined ? {} : { maxCredits }) });
  const reading = useMutation({ mutationFn: readTable, onMutate: () => setTable(undefined), onSuccess: setTable });
  const pricing = useMutation({ mutationFn: async () => api.batches.quote({ workflow: slug }, order()) });
  const running = useMutation({
    mutationFn: async () => api.batches.create({ workflow: slug }, order()),
    onSuccess: ({ batchId }) => navigate({ to: "/batches/$id", params: { id: batchId } }),
  });
  const all = [reading, pricing, running];
  const error = all.find((one) => one.error !== null)?.error;
  const isBusy = pricing.isPending || running.isPending;
  /** Discards the quote after a change. */
  const changed = (mappingNow?: Mapping): void => {
    setChosen(mappingNow);
    for (const one of all) one.reset();
  };

  return (
    <Card title={NEW_BATCH.newBatch} actions={<IconButton icon={X} label={COMMON.close} size="sm" onClick={onClose} />} className="mb-6">
      <div className="flex flex-col gap-4">
        <SelectField
          label={COMMON.workflow}
          value={slug}
          onChange={({ target }) => {
            setSlug(target.value);
            changed();
          }}
          options={(workflows.data ?? []).map(({ slug: one, name }) => [one, name])}
        >
          <option value="">{COMMON.chooseWorkflow}</option>
        </SelectField>
        <Drop
          table={table}
          onFile={(file) => {
            changed();
            reading.mutate(file);
          }}
        />
        {isReady && fields.length > 0 && <Columns fields={fields} table={table} mapping={mapping} onChange={changed} />}
        {isReady && (
          <InputField
            label={NEW_BATCH.creditLimit}
            hint={NEW_BATCH.creditLimitHint}
            type="number"
            min={0}
            step="any"
            value={limit}
            onText={setLimit}
            className="sm:max-w-48"
          />
        )}
        {error !== undefined && <Problems error={error} />}
        {pricing.data && <Price quote={pricing.data} />}
        <ButtonRow>
          <Button disabled={!isReady || isBusy} busy={pricing.isPending} onClick={() => pricing.mutate()}>
            {NEW_BATCH.showPrice}
          </Button>
          <Button variant="primary" disabled={!isReady || isBusy} busy={running.isPending} onClick={() => running.mutate()}>
            {table ? NEW_BATCH.runItems(table.rows.length) : NEW_BATCH.run}
          </Button>
        </ButtonRow>
      </div>
    </Card>
  );
};
