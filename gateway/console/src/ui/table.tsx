import type { ReactNode } from "react";
import { classes } from "./classes";

export interface Column<Row> {
  title: string;
  /** True for right-aligned, tabular figures. */
  numeric?: boolean;
  /** True for a column hidden on phones. "widest": also hidden on tablets and in small windows. */
  wide?: boolean | "widest";
  cell: (row: Row) => ReactNode;
  className?: string;
}

const roomFor = (wide: Column<never>["wide"]): string | undefined =>
  wide === "widest" ? "max-xl:hidden" : wide === true ? "max-md:hidden" : undefined;

export interface TableProps<Row> {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  /** Shown if there are no rows. */
  empty?: ReactNode;
}

/** A table, which scrolls sideways on narrow screens. */
export const Table = <Row,>({ label, columns, rows, keyOf, empty }: TableProps<Row>) =>
  rows.length === 0 && empty !== undefined ? (
    empty
  ) : (
    <div className="relative overflow-x-auto rounded-xl border bg-surface" tabIndex={0} role="region" aria-label={label}>
      <table className="w-full border-collapse text-left text-sm">
        <thead>
          <tr className="border-b bg-page/60 text-xs text-muted">
            {columns.map((column) => (
              <th
                key={column.title}
                scope="col"
                className={classes("px-3 py-2 font-medium whitespace-nowrap", column.numeric && "text-right", roomFor(column.wide))}
              >
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)} className="border-b last:border-b-0 hover:bg-hover/60">
              {columns.map((column) => (
                <td
                  key={column.title}
                  className={classes(
                    "max-w-72 px-3 py-2.5 align-middle",
                    column.numeric && "text-right whitespace-nowrap tabular-nums",
                    roomFor(column.wide),
                    column.className,
                  )}
                >
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
