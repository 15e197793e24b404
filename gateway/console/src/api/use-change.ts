import { useMutation, useQueryClient } from "@tanstack/react-query";
import { complain, say } from "../ui/overlays/toast";
import { messageOf } from "./client";

type Work<T> = () => Promise<T>;

/** Sends changing requests one at a time. @param reads first keys of queries that are refreshed after each */
export const useChange = (...reads: readonly string[]) => {
  const client = useQueryClient();
  const { mutateAsync, isPending, error } = useMutation({
    mutationFn: (work: Work<unknown>) => work(),
    onSettled: () => {
      for (const key of reads) void client.invalidateQueries({ queryKey: [key] });
    },
  });
  return {
    busy: isPending,
    /** Error of the last request, for forms. */
    failure: error === null ? undefined : messageOf(error),
    /** Shows a notice on failure, or `done` on success. @returns undefined on failure */
    run: async <T>(work: Work<T>, doneMessage?: string): Promise<T | undefined> => {
      try {
        const answer = (await mutateAsync(work)) as T;
        if (doneMessage !== undefined) say(doneMessage);
        return answer;
      } catch (cause) {
        complain(messageOf(cause));
        return undefined;
      }
    },
    /** Lets a form show a failure. @returns true if the request succeeded and didn't return `false` */
    send: (work: Work<unknown>): Promise<boolean> =>
      mutateAsync(work).then(
        (answer) => answer !== false,
        () => false,
      ),
  };
};
