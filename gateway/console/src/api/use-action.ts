import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { complain, say } from "../ui/overlays/toast";
import { messageOf } from "./client";

/** Runs requests that change something: one at a time, failures told, what it changed read again. */
export const useAction = (reads: readonly string[]) => {
  const client = useQueryClient();
  const [busy, setBusy] = useState(false);
  const run = async <T>(work: () => Promise<T>, done?: string): Promise<T | undefined> => {
    setBusy(true);
    try {
      const answer = await work();
      if (done !== undefined) say(done);
      return answer;
    } catch (error) {
      complain(messageOf(error));
      return undefined;
    } finally {
      setBusy(false);
      for (const key of reads) void client.invalidateQueries({ queryKey: [key] });
    }
  };
  return { busy, run };
};
