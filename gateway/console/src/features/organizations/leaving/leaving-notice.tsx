import { request } from "../../../api/client";
import { useChange } from "../../../api/use-change";
import { Button } from "../../../ui/button";
import { Notice } from "../../../ui/notice";
import { Time } from "../../../ui/time";
import type { Role } from "../roles";

export interface LeavingNoticeProps {
  organization: { id: string; name: string; role: Role; erasesAt: string };
  className?: string;
}

/** Notice of an organization's deletion; owners can cancel it. */
export const LeavingNotice = ({ organization: { id, name, role, erasesAt }, className }: LeavingNoticeProps) => {
  const { busy, run } = useChange("me", "organizations");
  const isOwner = role === "owner";
  const keep = () => request("restoreOrganization", { params: { id } });
  return (
    <Notice
      kind="warn"
      title={`${name} is to be deleted`}
      {...(className === undefined ? {} : { className })}
      {...(isOwner
        ? {
            actions: (
              <Button size="sm" busy={busy} onClick={() => void run(keep, `${name} stays. Schedules and hooks go on.`)}>
                Keep it
              </Button>
            ),
          }
        : {})}
    >
      It goes for good <Time iso={erasesAt} />, and nothing can be run for it until then. {isOwner ? "" : "An owner can keep it."}
    </Notice>
  );
};
