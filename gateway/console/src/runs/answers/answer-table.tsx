import { isRecord } from "@nodeloom/kernel/graph";

/** Shows an answer as a table of records, a list, or names with values. */
const MOST_ROWS = 100;
const MOST_COLUMNS = 12;

const Cell = ({ value }: { value: unknown }) => {
  if (value === null || value === undefined) return <span className="text-faint">–</span>;
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return value.map((one) => (typeof one === "object" ? JSON.stringify(one) : String(one))).join(", ");
  return typeof value === "object" ? JSON.stringify(value) : String(value as string | number);
};

const isTable = (value: unknown): value is Record<string, unknown>[] => Array.isArray(value) && value.length > 0 && value.every(isRecord);

/** True if a table or list is more readable than JSON. */
export const isReadable = (value: unknown): boolean => isRecord(value) || (Array.isArray(value) && value.length > 0);

export const AnswerTable = ({ value, label }: { value: unknown; label: string }) => {
  if (isTable(value)) {
    const columns = [...new Set(value.flatMap((row) => Object.keys(row)))].slice(0, MOST_COLUMNS);
    return (
      <div className="overflow-auto rounded-xl border" tabIndex={0} role="region" aria-label={label}>
        <table className="w-full text-left text-[13px]">
          <thead>
            <tr className="border-b bg-sunken">
              <th className="px-2 py-1 text-xs font-medium text-faint">#</th>
              {columns.map((name) => (
                <th key={name} className="px-2 py-1 text-xs font-medium text-muted">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {value.slice(0, MOST_ROWS).map((row, index) => (
              <tr key={index} className="border-b align-top last:border-b-0">
                <td className="px-2 py-1 text-faint tabular-nums">{index + 1}</td>
                {columns.map((name) => (
                  <td key={name} dir="auto" className="min-w-24 px-2 py-1 wrap-anywhere">
                    <Cell value={row[name]} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    );
  }
  if (Array.isArray(value))
    return (
      <ol className="list-inside list-decimal rounded-xl border p-3 text-[13px]" aria-label={label}>
        {value.slice(0, MOST_ROWS).map((one, index) => (
          <li key={index} dir="auto" className="wrap-anywhere">
            <Cell value={one} />
          </li>
        ))}
      </ol>
    );
  return (
    <dl className="rounded-xl border p-3 text-[13px]" aria-label={label}>
      {Object.entries(value as Record<string, unknown>).map(([name, one]) => (
        <div key={name} className="mb-1.5 last:mb-0">
          <dt className="text-xs text-muted">{name}</dt>
          <dd dir="auto" className="wrap-anywhere">
            {isTable(one) ? <AnswerTable value={one} label={name} /> : <Cell value={one} />}
          </dd>
        </div>
      ))}
    </dl>
  );
};
