import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { messageOf } from "./client";

/**
 * One action of a form at a time: which it is, and why it failed, to be shown beside it.
 * @param reads keys of queries that are read again after each
 */
export const useWork = <What extends string>(...reads: string[]) => {
  const client = useQueryClient();
  const [busy, setBusy] = useState<What>();
  const [failure, setFailure] = useState<string>();
  const act = async (what: What, work: () => Promise<void>): Promise<void> => {
    setBusy(what);
    setFailure(undefined);
    try {
      await work();
    } catch (error) {
      setFailure(messageOf(error));
    } finally {
      setBusy(undefined);
      for (const key of reads) void client.invalidateQueries({ queryKey: [key] });
    }
  };
  return { busy, failure, act };
};
