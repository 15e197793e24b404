import type { AdminUser } from "@nodeloom/client";
import { useQuery } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { useState } from "react";
import { request } from "../../api/client";
import { useChange } from "../../api/use-change";
import { LoadFailure } from "../../parts/error-pages";
import { ConfirmDialog } from "../../parts/form";
import { Button } from "../../ui/button";
import { Code } from "../../ui/copy";
import { bytes } from "../../ui/format";
import { Notice } from "../../ui/notice";
import { Dialog } from "../../ui/overlays/dialog";
import { Time } from "../../ui/time";

interface UserDialogProps {
  user: AdminUser;
  onClose: () => void;
}

const READS = ["admin-users"];

/** Schedules the deletion of an account, or cancels it. */
export const DeleteDialog = ({ user: { id, email, erasesAt }, onClose }: UserDialogProps) => {
  const isLeaving = erasesAt !== null;
  return (
    <ConfirmDialog
      title={isLeaving ? `Keep ${email}` : `Delete ${email}`}
      action={isLeaving ? "Keep the account" : "Delete the account"}
      danger={!isLeaving}
      reads={READS}
      submit={() => request(isLeaving ? "adminRestoreUser" : "adminDeleteUser", { params: { id } })}
      done={isLeaving ? `${email} stays.` : `${email} is deleted after the waiting time.`}
      onClose={onClose}
      text={
        isLeaving ? (
          <>
            It is to be deleted <Time iso={erasesAt} />.
          </>
        ) : (
          "What runs is cancelled now. After the waiting time everything goes but the ledger's amounts, for good. The owner can take it back until then. The audit keeps that you did it."
        )
      }
    />
  );
};

/** Unlinks an account from the OpenID provider. */
export const UnlinkDialog = ({ user: { id, email }, onClose }: UserDialogProps) => (
  <ConfirmDialog
    title={`Link of ${email}`}
    action="End the link"
    reads={READS}
    submit={() => request("adminUnlinkOidc", { params: { id } })}
    done={`${email} is not linked to the provider any more.`}
    onClose={onClose}
    text="Whoever signs in by the provider as this account can't any more, and its sessions end. An account without a password needs a password link afterwards. The audit keeps that you did it."
  />
);

/** Disables the second factor for a user without codes. */
export const SecondFactorDialog = ({ user: { id, email }, onClose }: UserDialogProps) => (
  <ConfirmDialog
    title={`Second factor of ${email}`}
    action="Switch off"
    reads={READS}
    submit={() => request("adminResetSecondFactor", { params: { id } })}
    done={`${email} signs in by the password alone now.`}
    onClose={onClose}
    text="Make sure that it is the owner who asks: afterwards the password alone signs in. The audit keeps that you did it."
  />
);

/** A link for a new password, usable and shown once. */
export const ResetDialog = ({ user: { id, email }, onClose }: UserDialogProps) => {
  const { busy, run } = useChange();
  const [link, setLink] = useState<string>();
  const make = async (): Promise<void> => setLink((await run(() => request("adminResetPassword", { params: { id } })))?.body.link);
  return (
    <Dialog title={`New password for ${email}`} width="md" onClose={onClose} actions={<Button onClick={onClose}>Close</Button>}>
      <p className="mb-4 text-sm text-muted">
        Give the link to its owner by a way that you trust. It works once, for an hour, and ends every session of the account.
      </p>
      {link === undefined ? (
        <Button variant="primary" busy={busy} onClick={() => void make()}>
          Make a link
        </Button>
      ) : (
        <div className="flex flex-col gap-3">
          <Notice kind="warn">Shown this once.</Notice>
          <Code text={link} label="Link" wrap />
        </div>
      )}
    </Dialog>
  );
};

const LOOK_MS = 3_000;

/** Archive of an account for people who can't request it themselves. */
export const ExportDialog = ({ user: { id, email }, onClose }: UserDialogProps) => {
  const { data, isError, error, refetch } = useQuery({
    queryKey: ["admin-export", id],
    queryFn: async ({ signal }) => (await request("adminExportUser", { params: { id }, signal })).body,
    refetchInterval: ({ state }) => (state.data?.status === "processing" ? LOOK_MS : false),
  });
  const ready = data?.status === "ready" ? data : undefined;
  return (
    <Dialog
      title={`Export of ${email}`}
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
