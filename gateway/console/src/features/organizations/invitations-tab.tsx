import type { Invitation } from "@nodeloom/client";
import { useQuery } from "@tanstack/react-query";
import { MailPlus, Trash2 } from "lucide-react";
import { useState } from "react";
import { titled } from "../../ui/format";
import { request } from "../../api/client";
import { useChange } from "../../api/use-change";
import { Loaded } from "../../parts/loaded";
import { Badge } from "../../ui/badge";
import { Button } from "../../ui/button";
import { Empty } from "../../ui/notice";
import { Table, type Column } from "../../ui/table";
import { Time } from "../../ui/time";
import { InviteDialog } from "./invite-dialog";
import { COMMON } from "../../messages/common";
import { INVITATIONS_TAB } from "../../messages/organizations";

const columnsOf = (withdraw: (invitation: Invitation) => void): readonly Column<Invitation>[] => [
  { title: COMMON.email, cell: ({ email }) => <span className="block truncate">{email ?? INVITATIONS_TAB.anyoneWithTheLink}</span> },
  { title: COMMON.role, cell: ({ role }) => <Badge>{titled(role)}</Badge> },
  { title: INVITATIONS_TAB.expires, numeric: true, cell: ({ expiresAt }) => (expiresAt === null ? null : <Time iso={expiresAt} />) },
  {
    title: COMMON.actions,
    numeric: true,
    cell: (invitation) => (
      <Button size="sm" icon={Trash2} aria-label={INVITATIONS_TAB.withdrawFor(invitation.email)} onClick={() => withdraw(invitation)}>
        {INVITATIONS_TAB.revoke}
      </Button>
    ),
  },
];

export const InvitationsTab = ({ id }: { id: string }) => {
  const invitations = useQuery({
    queryKey: ["organizations", id, "invitations"],
    queryFn: async ({ signal }) => (await request("listInvitations", { params: { id }, signal })).body,
  });
  const { run } = useChange("organizations");
  const [inviting, setInviting] = useState(false);
  const withdraw = ({ id: invitationId }: Invitation): void => {
    void run(() => request("deleteInvitation", { params: { id, invitationId } }), INVITATIONS_TAB.revoked);
  };
  return (
    <>
      <div className="mb-4 flex justify-end">
        <Button icon={MailPlus} variant="primary" onClick={() => setInviting(true)}>
          {INVITATIONS_TAB.inviteMember}
        </Button>
      </div>
      <Loaded of={invitations} lines={2}>
        {(rows) => (
          <Table
            label={INVITATIONS_TAB.invitations}
            columns={columnsOf(withdraw)}
            rows={rows}
            keyOf={(one) => one.id}
            empty={
              <Empty icon={MailPlus} title={INVITATIONS_TAB.noPendingInvitations}>
                {INVITATIONS_TAB.emptyHint}
              </Empty>
            }
          />
        )}
      </Loaded>
      {inviting && <InviteDialog id={id} onClose={() => setInviting(false)} />}
    </>
  );
};
