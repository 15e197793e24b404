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
import { COMMON } from "../../messages/common";
import { USER_DIALOGS } from "../../messages/admin";

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
      title={isLeaving ? USER_DIALOGS.keep(email) : USER_DIALOGS.delete(email)}
      action={isLeaving ? USER_DIALOGS.keepAccount : USER_DIALOGS.deleteAccount}
      danger={!isLeaving}
      reads={READS}
      submit={() => request(isLeaving ? "adminRestoreUser" : "adminDeleteUser", { params: { id } })}
      successText={isLeaving ? USER_DIALOGS.deletionOfCancelled(email) : USER_DIALOGS.deletionScheduledFor(email)}
      onClose={onClose}
      text={
        isLeaving ? (
          <>
            {USER_DIALOGS.deleteTitle} <Time iso={erasesAt} />.
          </>
        ) : (
          USER_DIALOGS.deleteHint
        )
      }
    />
  );
};

/** Unlinks an account from the OpenID provider. */
export const UnlinkDialog = ({ user: { id, email }, onClose }: UserDialogProps) => (
  <ConfirmDialog
    title={USER_DIALOGS.unlink(email)}
    action={USER_DIALOGS.confirmUnlink}
    reads={READS}
    submit={() => request("adminUnlinkOidc", { params: { id } })}
    successText={USER_DIALOGS.unlinked(email)}
    onClose={onClose}
    text={USER_DIALOGS.unlinkHint}
  />
);

/** Disables the second factor of a user who has lost access to it. */
export const SecondFactorDialog = ({ user: { id, email }, onClose }: UserDialogProps) => (
  <ConfirmDialog
    title={USER_DIALOGS.twoFactorAuthenticationOf(email)}
    action={USER_DIALOGS.turnOff}
    reads={READS}
    submit={() => request("adminResetSecondFactor", { params: { id } })}
    successText={USER_DIALOGS.twoFactorTurnedOff(email)}
    onClose={onClose}
    text={USER_DIALOGS.twoFactorHint}
  />
);

/** Creates a link for a new password. It works once and is shown once. */
export const ResetDialog = ({ user: { id, email }, onClose }: UserDialogProps) => {
  const { busy, run } = useChange();
  const [link, setLink] = useState<string>();
  const make = async (): Promise<void> => setLink((await run(() => request("adminResetPassword", { params: { id } })))?.body.link);
  return (
    <Dialog
      title={USER_DIALOGS.newPasswordFor(email)}
      width="md"
      onClose={onClose}
      actions={<Button onClick={onClose}>{COMMON.close}</Button>}
    >
      <p className="mb-4 text-sm text-muted">{USER_DIALOGS.resetLinkHint}</p>
      {link === undefined ? (
        <Button variant="primary" busy={busy} onClick={() => void make()}>
          {USER_DIALOGS.createLink}
        </Button>
      ) : (
        <div className="flex flex-col gap-3">
          <Notice kind="warn">{USER_DIALOGS.shownOnlyOnce}</Notice>
          <Code text={link} label={USER_DIALOGS.link} wrap />
        </div>
      )}
    </Dialog>
  );
};

const LOOK_MS = 3_000;

/** Exports the archive of an account for a person who can't request it. */
export const ExportDialog = ({ user: { id, email }, onClose }: UserDialogProps) => {
  const { data, isError, error, refetch } = useQuery({
    queryKey: ["admin-export", id],
    queryFn: async ({ signal }) => (await request("adminExportUser", { params: { id }, signal })).body,
    refetchInterval: ({ state }) => (state.data?.status === "processing" ? LOOK_MS : false),
  });
  const ready = data?.status === "ready" ? data : undefined;
  return (
    <Dialog
      title={USER_DIALOGS.exportDataOf(email)}
      onClose={onClose}
      actions={
        <Button variant="primary" icon={Download} busy={!ready && !isError} onClick={() => ready && location.assign(ready.url)}>
          {COMMON.download}
        </Button>
      }
    >
      {isError && <LoadFailure error={error} retry={() => void refetch()} />}
      <p className="text-sm text-muted" role="status">
        {USER_DIALOGS.archive(ready ? bytes(ready.bytes) : "")}
      </p>
    </Dialog>
  );
};
