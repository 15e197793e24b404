import { useMutation, useQueryClient } from "@tanstack/react-query";
import { complain, say } from "../ui/overlays/toast";
import { messageOf } from "./client";

type Work<T> = () => Promise<T>;

/**
 * Requests that change something, one at a time.
 * @param reads first names of the queries that are read again after each
 */
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
    /** Why the last one failed, for a form that shows it. */
    failure: error === null ? undefined : messageOf(error),
    /** Shows a failure beside the page, and what was done where that is given. @returns undefined where it failed */
    run: async <T>(work: Work<T>, done?: string): Promise<T | undefined> => {
      try {
        const answer = (await mutateAsync(work)) as T;
        if (done !== undefined) say(done);
        return answer;
      } catch (cause) {
        complain(messageOf(cause));
        return undefined;
      }
    },
    /** Leaves a failure to the form. @returns whether it was done, and didn't say `false` itself */
    send: (work: Work<unknown>): Promise<boolean> =>
      mutateAsync(work).then(
        (answer) => answer !== false,
        () => false,
      ),
  };
};
