import type { Invitation } from "@nodeloom/client";
import { useQuery } from "@tanstack/react-query";
import { MailPlus, Trash2 } from "lucide-react";
import { useState } from "react";
import { request } from "../../api/client";
import { useChange } from "../../api/use-change";
import { Loaded } from "../../parts/loaded";
import { Badge } from "../../ui/badge";
import { Button } from "../../ui/button";
import { Empty } from "../../ui/notice";
import { Table, type Column } from "../../ui/table";
import { Time } from "../../ui/time";
import { InviteDialog } from "./invite-dialog";

const columnsOf = (withdraw: (invitation: Invitation) => void): readonly Column<Invitation>[] => [
  { title: "For", cell: ({ email }) => <span className="block truncate">{email ?? "who has the link"}</span> },
  { title: "As", cell: ({ role }) => <Badge>{role}</Badge> },
  { title: "Until", numeric: true, cell: ({ expiresAt }) => (expiresAt === null ? null : <Time iso={expiresAt} />) },
  {
    title: "Actions",
    numeric: true,
    cell: (invitation) => (
      <Button
        size="sm"
        icon={Trash2}
        aria-label={`Withdraw the invitation of ${invitation.email ?? "who has the link"}`}
        onClick={() => withdraw(invitation)}
      >
        Withdraw
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
    void run(() => request("deleteInvitation", { params: { id, invitationId } }), "Its link does not work any more.");
  };
  return (
    <>
      <div className="mb-4 flex justify-end">
        <Button icon={MailPlus} variant="primary" onClick={() => setInviting(true)}>
          Invite
        </Button>
      </div>
      <Loaded of={invitations} lines={2}>
        {(rows) => (
          <Table
            label="Invitations"
            columns={columnsOf(withdraw)}
            rows={rows}
            keyOf={(one) => one.id}
            empty={
              <Empty icon={MailPlus} title="No open invitations">
                A link makes one person a member. It works once, for a week.
              </Empty>
            }
          />
        )}
      </Loaded>
      {inviting && <InviteDialog id={id} onClose={() => setInviting(false)} />}
    </>
  );
};
