import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Skeleton } from "../ui/notice";
import { LoadFailure } from "./error-pages";

type Loading<Data> = Pick<UseQueryResult<Data>, "data" | "isPending" | "isError" | "error" | "refetch">;

/** Loaded data. Shows grey lines until it is loaded, and the error after a failure. */
export const Loaded = <Data,>({ of, lines, children }: { of: Loading<Data>; lines?: number; children: (data: Data) => ReactNode }) => (
  <>
    {of.isPending && <Skeleton {...(lines !== undefined && { lines })} />}
    {of.isError && <LoadFailure error={of.error} retry={() => void of.refetch()} />}
    {of.data !== undefined && children(of.data)}
  </>
);
