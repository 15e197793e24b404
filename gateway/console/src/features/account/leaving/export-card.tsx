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
import { COMMON } from "../../../messages/common";
import { EXPORT_CARD } from "../../../messages/account";

const LOOK_MS = 3_000;

/** Requests an archive of the account, and polls until it is ready. */
export const ExportCard = () => {
  const [isWanted, setWanted] = useState(false);
  const { data, isError, error, refetch } = useQuery({
    queryKey: ["account-export"],
    enabled: isWanted,
    queryFn: async ({ signal }) => (await request("exportAccount", { signal })).body,
    refetchInterval: ({ state }) => (state.data?.status === "processing" ? LOOK_MS : false),
  });
  const ready = data?.status === "ready" ? data : undefined;
  const isBeingMade = isWanted && !isError && !ready;
  return (
    <Card title={EXPORT_CARD.exportData}>
      <div className="flex flex-col items-start gap-4 text-sm">
        <p className="text-muted">{EXPORT_CARD.contents}</p>
        {isError && <LoadFailure error={error} retry={() => void refetch()} />}
        {ready ? (
          <>
            <p role="status">
              {EXPORT_CARD.created(bytes(ready.bytes))} <Time iso={ready.createdAt} />
              {EXPORT_CARD.availableUntil} <Time iso={ready.expiresAt} />.
            </p>
            {ready.isPartial && <Notice kind="warn">{EXPORT_CARD.archiveIncomplete}</Notice>}
            <Button variant="primary" icon={Download} onClick={() => location.assign(ready.url)}>
              {COMMON.download}
            </Button>
          </>
        ) : (
          <Button busy={isBeingMade} onClick={() => setWanted(true)}>
            {isBeingMade ? EXPORT_CARD.creatingTheArchive : EXPORT_CARD.createArchive}
          </Button>
        )}
      </div>
    </Card>
  );
};
