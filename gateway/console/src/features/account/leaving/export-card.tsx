import { useQuery } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { useState } from "react";
import { LoadFailure } from "../../../parts/error-pages";
import { request } from "../../../api/client";
import { Button } from "../../../ui/button";
import { bytes } from "../../../ui/format";
import { Notice } from "../../../ui/notice";
import { Card } from "../../../ui/page";
import { Time } from "../../../ui/time";

const LOOK_MS = 3_000;

/** Archive of the account: requested, then polled until it is ready. */
export const ExportCard = () => {
  const [wanted, setWanted] = useState(false);
  const { data, isError, error, refetch } = useQuery({
    queryKey: ["account-export"],
    enabled: wanted,
    queryFn: async ({ signal }) => (await request("exportAccount", { signal })).body,
    refetchInterval: ({ state }) => (state.data?.status === "processing" ? LOOK_MS : false),
  });
  const ready = data?.status === "ready" ? data : undefined;
  const isBeingMade = wanted && !isError && !ready;
  return (
    <Card title="Export">
      <div className="flex flex-col items-start gap-4 text-sm">
        <p className="text-muted">
          A ZIP of everything here: workflows with their versions, runs, usage, the ledger, settings, and your files. Of keys and secrets it
          has the names alone.
        </p>
        {isError && <LoadFailure error={error} retry={() => void refetch()} />}
        {ready ? (
          <>
            <p role="status">
              {bytes(ready.bytes)}, made <Time iso={ready.createdAt} />. It can be fetched until <Time iso={ready.expiresAt} />.
            </p>
            {ready.isPartial && <Notice kind="warn">Not everything fits: README.txt in it says what is missing.</Notice>}
            <Button variant="primary" icon={Download} onClick={() => location.assign(ready.url)}>
              Download
            </Button>
          </>
        ) : (
          <Button busy={isBeingMade} onClick={() => setWanted(true)}>
            {isBeingMade ? "It is being made…" : "Make an archive"}
          </Button>
        )}
      </div>
    </Card>
  );
};
