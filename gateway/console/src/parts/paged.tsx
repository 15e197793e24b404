import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { LoadFailure } from "./error-pages";
import { Pager } from "./pager";
import { Empty, Skeleton } from "../ui/notice";
import { Table, type Column } from "../ui/table";
import { SearchX } from "lucide-react";
import { PAGED } from "../messages/parts";

export interface PagedProps<Row> {
  label: string;
  queryKey: readonly unknown[];
  read: (cursor: string | undefined, signal: AbortSignal) => Promise<{ rows: Row[]; nextCursor: string | null }>;
  columns: readonly Column<Row>[];
  keyOf: (row: Row) => string;
  empty: ReactNode;
  /** Milliseconds until the rows are read again; false if they don't change. */
  pollMs?: (rows: readonly Row[]) => number | false;
}

/** A table with paging. */
export const Paged = <Row,>({ label, queryKey, read, columns, keyOf, empty, pollMs }: PagedProps<Row>) => {
  const [cursor, setCursor] = useState<string>();
  const page = useQuery({
    queryKey: [...queryKey, cursor],
    queryFn: ({ signal }) => read(cursor, signal),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => pollMs?.(state.data?.rows ?? []) ?? false,
  });
  const { data } = page;
  if (page.isPending) return <Skeleton lines={8} />;
  if (data === undefined) return <LoadFailure error={page.error} retry={() => void page.refetch()} />;
  return (
    <>
      <Table
        label={label}
        columns={columns}
        rows={data.rows}
        keyOf={keyOf}
        empty={
          <Empty icon={SearchX} title={PAGED.nothingHereYet}>
            {empty}
          </Empty>
        }
      />
      <Pager cursor={cursor} nextCursor={data.nextCursor} onTurn={setCursor} words={[PAGED.firstPage, PAGED.nextPage]} size="sm" />
    </>
  );
};
