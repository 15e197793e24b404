import type { Member, Organization } from "@nodeloom/client";
import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { LogOut, UserMinus } from "lucide-react";
import { useState } from "react";
import { request } from "../../api/client";
import { chosenOrganization, workFor } from "../../api/organization";
import { meQuery } from "../../api/queries";
import { membersQuery } from "./queries";
import { useChange } from "../../api/use-change";
import { LoadFailure } from "../../parts/error-pages";
import { Badge } from "../../ui/badge";
import { Button } from "../../ui/button";
import { Skeleton } from "../../ui/notice";
import { ConfirmDialog } from "../../parts/form";
import { Table, type Column } from "../../ui/table";
import { Time } from "../../ui/time";
import { RoleSelect } from "./role-select";
import { ROLE_WORDS, type Role } from "./roles";

interface Actions {
  ownId: string;
  isOwner: boolean;
  busy: boolean;
  change: (member: Member, role: Role) => void;
  ask: (member: Member) => void;
}

const columnsOf = ({ ownId, isOwner, busy, change, ask }: Actions): readonly Column<Member>[] => [
  {
    title: "Member",
    cell: ({ email, userId }) => (
      <span className="block truncate">
        {email}
        {userId === ownId && <span className="text-muted"> (you)</span>}
      </span>
    ),
  },
  {
    title: "Role",
    cell: (member) =>
      isOwner ? (
        <RoleSelect
          label={`Role of ${member.email}`}
          value={member.role}
          disabled={busy}
          className="w-28!"
          onChange={(role) => change(member, role)}
        />
      ) : (
        <Badge>{member.role}</Badge>
      ),
  },
  { title: "May", wide: true, cell: ({ role }) => <span className="text-xs text-muted">{ROLE_WORDS[role]}</span> },
  { title: "Since", numeric: true, wide: true, cell: ({ since }) => (since === null ? null : <Time iso={since} />) },
  {
    title: "Actions",
    numeric: true,
    cell: (member) => {
      const isOwn = member.userId === ownId;
      if (!isOwn && !isOwner) return null;
      return (
        <Button
          size="sm"
          icon={isOwn ? LogOut : UserMinus}
          aria-label={isOwn ? "Leave the organization" : `Remove ${member.email}`}
          onClick={() => ask(member)}
        >
          {isOwn ? "Leave" : "Remove"}
        </Button>
      );
    },
  },
];

export const MembersTab = ({ organization }: { organization: Organization }) => {
  const { id, name } = organization;
  const { data: me } = useSuspenseQuery(meQuery);
  const members = useQuery(membersQuery(id));
  const { busy, run } = useChange("organizations", "me");
  const [asked, setAsked] = useState<Member>();
  if (members.isPending) return <Skeleton lines={3} />;
  if (!members.data) return <LoadFailure error={members.error} retry={() => void members.refetch()} />;
  const ownId = me?.user.id ?? "";
  const isOwn = asked?.userId === ownId;
  const change = ({ userId, email }: Member, role: Role): void => {
    const work = () => request("changeMember", { params: { id, userId }, body: { role } });
    void run(work, `${email} is ${role === "owner" || role === "editor" ? "an" : "a"} ${role} now.`);
  };
  const remove = async ({ userId }: Member): Promise<void> => {
    await request("removeMember", { params: { id, userId } });
    if (isOwn) workFor(chosenOrganization() === id ? undefined : chosenOrganization(), "/organizations");
  };
  return (
    <>
      <Table
        label="Members"
        columns={columnsOf({ ownId, isOwner: organization.role === "owner", busy, change, ask: setAsked })}
        rows={members.data}
        keyOf={({ userId }) => userId}
      />
      {asked && (
        <ConfirmDialog
          title={isOwn ? `Leave ${name}?` : `Remove ${asked.email}?`}
          text={`The API keys that ${isOwn ? "you" : "they"} made for it end at once. Workflows, files and runs stay the organization's.`}
          action={isOwn ? "Leave" : "Remove"}
          reads={["organizations", "me"]}
          submit={() => remove(asked)}
          onClose={() => setAsked(undefined)}
        />
      )}
    </>
  );
};
