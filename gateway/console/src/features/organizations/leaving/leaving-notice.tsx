import { request } from "../../../api/client";
import { useChange } from "../../../api/use-change";
import { Button } from "../../../ui/button";
import { Notice } from "../../../ui/notice";
import { Time } from "../../../ui/time";
import type { Role } from "../roles";
import { LEAVING_NOTICE } from "../../../messages/organizations";

export interface LeavingNoticeProps {
  organization: { id: string; name: string; role: Role; erasesAt: string };
  className?: string;
}

/** Notice of an organization's deletion, which owners can cancel. */
export const LeavingNotice = ({ organization: { id, name, role, erasesAt }, className }: LeavingNoticeProps) => {
  const { busy, run } = useChange("me", "organizations");
  const isOwner = role === "owner";
  const keep = () => request("restoreOrganization", { params: { id } });
  return (
    <Notice
      kind="warn"
      title={LEAVING_NOTICE.willBeDeleted(name)}
      {...(className === undefined ? {} : { className })}
      {...(isOwner
        ? {
            actions: (
              <Button size="sm" busy={busy} onClick={() => void run(keep, LEAVING_NOTICE.deletionCancelled(name))}>
                {LEAVING_NOTICE.keepOrganization}
              </Button>
            ),
          }
        : {})}
    >
      {LEAVING_NOTICE.deletedPermanently} <Time iso={erasesAt} />
      {LEAVING_NOTICE.noRuns(isOwner)}
    </Notice>
  );
};
