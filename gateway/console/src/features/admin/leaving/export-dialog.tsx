import type { AdminUser } from "@nodeloom/client";
import { useQuery } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { LoadFailure } from "../../../parts/error-pages";
import { request } from "../../../api/client";
import { Button } from "../../../ui/button";
import { bytes } from "../../../ui/format";
import { Dialog } from "../../../ui/overlays/dialog";

const LOOK_MS = 3_000;

/** An archive of what somebody has, for people who can't ask for it themselves. */
export const ExportDialog = ({ user, onClose }: { user: AdminUser; onClose: () => void }) => {
  const { data, isError, error, refetch } = useQuery({
    queryKey: ["admin-export", user.id],
    queryFn: async ({ signal }) => (await request("adminExportUser", { params: { id: user.id }, signal })).body,
    refetchInterval: ({ state }) => (state.data?.status === "processing" ? LOOK_MS : false),
  });
  const ready = data?.status === "ready" ? data : undefined;
  return (
    <Dialog
      title={`Export of ${user.email}`}
      onClose={onClose}
      actions={
        <Button variant="primary" icon={Download} busy={!ready && !isError} onClick={() => ready && location.assign(ready.url)}>
          Download
        </Button>
      }
    >
      {isError && <LoadFailure error={error} retry={() => void refetch()} />}
      <p className="text-sm text-muted" role="status">
        {ready ? `The archive is there: ${bytes(ready.bytes)}.` : "The archive is being made."} The audit keeps that you asked for it, and
        that you fetched it.
      </p>
    </Dialog>
  );
};
