import type { AuditRow } from "@nodeloom/client";
import { useState } from "react";
import { request } from "../../api/client";
import { Input, Select } from "../../ui/inputs/field";
import type { Column } from "../../ui/table";
import { Time } from "../../ui/time";
import { AuditOutcome } from "../../parts/audit-outcome";
import { Paged } from "../../parts/paged";
import { AccountName } from "./account-name";
import { COMMON } from "../../messages/common";
import { AUDIT } from "../../messages/admin";

const OUTCOMES = ["done", "failed", "pending"] as const;
/** Prefixes of administrators' actions. */
const SUBJECTS = [
  ["user.", AUDIT.accountsAndCredits],
  ["user.credit", COMMON.credits],
  ["model.", COMMON.models],
  ["template.", COMMON.templates],
  ["tier.", COMMON.plans],
] as const;

const PAGE = 50;
/** The service can't filter the audit. Maximum pages searched for one page of results. */
const MOST_PAGES = 10;
const ACCOUNT_ID = /^[0-9a-f]{8}-[0-9a-f-]{27}$/;

interface Filter {
  subject: string;
  outcome: string;
  words: string;
}

const fits = (row: AuditRow, { subject, outcome, words }: Filter): boolean =>
  row.action.startsWith(subject) &&
  (outcome === "" || row.outcome === outcome) &&
  (words === "" || JSON.stringify([row.action, row.target, row.change, row.errorCode]).toLowerCase().includes(words.toLowerCase()));

/** Matching rows from several pages, up to the maximum. */
const readFitting = async (filter: Filter, cursor: string | undefined, signal: AbortSignal) => {
  const rows: AuditRow[] = [];
  let next: string | null | undefined = cursor;
  for (let pages = 0; pages < MOST_PAGES && rows.length < PAGE && next !== null; pages += 1) {
    const query: { limit: number; cursor?: string } = { limit: PAGE, ...(next === undefined ? {} : { cursor: next }) };
    const { body } = await request("adminListAudit", { query, signal });
    rows.push(...body.rows.filter((row) => fits(row, filter)));
    next = body.nextCursor;
  }
  return { rows, nextCursor: next ?? null };
};

const Target = ({ target }: { target: string }) =>
  ACCOUNT_ID.test(target) ? <AccountName id={target} /> : <span className="block truncate">{target}</span>;

const COLUMNS: readonly Column<AuditRow>[] = [
  {
    title: AUDIT.action,
    cell: ({ action, target }) => (
      <>
        <span className="font-medium">{action}</span>
        {/* Where there is no room for a column of its own. */}
        <span className="block w-28 text-xs md:hidden">
          <Target target={target} />
        </span>
      </>
    ),
  },
  { title: AUDIT.resource, wide: true, className: "max-xl:max-w-48!", cell: ({ target }) => <Target target={target} /> },
  {
    title: AUDIT.change,
    wide: "widest",
    cell: ({ change, before, after }) => (
      <details>
        <summary className="block truncate text-muted">{JSON.stringify(change)}</summary>
        <pre className="mt-1 max-h-48 overflow-auto rounded-lg bg-sunken p-2 font-mono text-xs whitespace-pre-wrap wrap-anywhere">
          {JSON.stringify({ before, after }, undefined, 2)}
        </pre>
      </details>
    ),
  },
  { title: AUDIT.outcome, cell: (row) => <AuditOutcome row={row} /> },
  {
    title: AUDIT.user,
    wide: true,
    className: "max-xl:max-w-40!",
    cell: ({ actor, keyId }) => <AccountName id={actor} title={keyId === null ? AUDIT.inTheConsole : AUDIT.withKey(keyId)} />,
  },
  { title: COMMON.time, numeric: true, cell: ({ at }) => <Time iso={at} /> },
];

export const AuditSection = () => {
  const [filter, setFilter] = useState<Filter>({ subject: "", outcome: "", words: "" });
  const set = (change: Partial<Filter>): void => setFilter({ ...filter, ...change });
  return (
    <>
      <div className="mb-4 flex flex-wrap gap-2">
        <Select
          aria-label={AUDIT.category}
          className="w-44!"
          value={filter.subject}
          onText={(text) => set({ subject: text })}
          options={SUBJECTS}
        >
          <option value="">{AUDIT.allCategories}</option>
        </Select>
        <Select
          aria-label={AUDIT.outcome}
          className="w-36!"
          value={filter.outcome}
          onText={(text) => set({ outcome: text })}
          options={OUTCOMES}
        >
          <option value="">{AUDIT.allOutcomes}</option>
        </Select>
        <Input
          type="search"
          aria-label={AUDIT.searchTheAuditLog}
          placeholder={AUDIT.modelSlugOrChange}
          className="min-w-48 flex-1"
          value={filter.words}
          onText={(text) => set({ words: text })}
        />
      </div>
      <Paged<AuditRow>
        key={JSON.stringify(filter)}
        label={AUDIT.auditLog}
        queryKey={["admin-audit", filter]}
        read={(cursor, signal) => readFitting(filter, cursor, signal)}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        empty={Object.values(filter).some(Boolean) ? AUDIT.noMatches : AUDIT.empty}
      />
    </>
  );
};
