import type { Erasure } from "@nodeloom/client";
import { useQuery } from "@tanstack/react-query";
import { request } from "../../api/client";
import { Loaded } from "../../parts/loaded";
import { Badge } from "../../ui/badge";
import { Card, Facts } from "../../ui/page";
import { Time } from "../../ui/time";
import { whole } from "../../ui/format";
import { COMMON } from "../../messages/common";
import { ERASE_RUNS } from "../../messages/erasures";

const POLL_MS = 3_000;

const countOf = ({ schedules, hooks, keys }: Erasure) => ({ schedules: schedules.length, hooks: hooks.length, keys: keys.length });

/** Follows an erasure until it is completed. */
export const ErasureProgress = ({ id }: { id: string }) => {
  const erasure = useQuery({
    queryKey: ["erasures", id],
    queryFn: async ({ signal }) => (await request("getErasure", { params: { id }, signal })).body,
    refetchInterval: ({ state }) => (state.data?.state === "running" ? POLL_MS : false),
  });
  return (
    <Card title={ERASE_RUNS.progress} className="mt-5">
      <Loaded of={erasure} lines={4}>
        {(found) => {
          const carriers = countOf(found);
          const isCarried = Object.values(carriers).some((count) => count > 0);
          return (
            <>
              <Facts
                rows={[
                  [
                    ERASE_RUNS.state,
                    <Badge key="state" tone={found.state === "completed" ? "ok" : "accent"}>
                      {ERASE_RUNS[found.state]}
                    </Badge>,
                  ],
                  [ERASE_RUNS.matched, whole(found.matched)],
                  [ERASE_RUNS.erased, whole(found.erased)],
                  [ERASE_RUNS.remaining, whole(found.remaining)],
                  [COMMON.created, <Time key="created" iso={found.createdAt} />],
                  ...(isCarried ? ([[ERASE_RUNS.stillCarrying, ERASE_RUNS.carriers(carriers)]] as const) : []),
                ]}
              />
              <p className="mt-3 text-xs text-faint">{ERASE_RUNS.keepLink}</p>
            </>
          );
        }}
      </Loaded>
    </Card>
  );
};
