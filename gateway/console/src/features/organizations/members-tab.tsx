import type { Member, Organization } from "@nodeloom/client";
import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { LogOut, UserMinus } from "lucide-react";
import { useState } from "react";
import { titled } from "../../ui/format";
import { request } from "../../api/client";
import { chosenOrganization, workFor } from "../../api/organization";
import { meQuery } from "../../api/queries";
import { membersQuery } from "../../api/queries";
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
import { COMMON } from "../../messages/common";
import { MEMBERS_TAB } from "../../messages/organizations";

interface Actions {
  ownId: string;
  isOwner: boolean;
  busy: boolean;
  change: (member: Member, role: Role) => void;
  ask: (member: Member) => void;
}

const columnsOf = ({ ownId, isOwner, busy, change, ask }: Actions): readonly Column<Member>[] => [
  {
    title: MEMBERS_TAB.member,
    className: "max-md:max-w-28",
    cell: ({ email, userId }) => (
      <span className="block truncate max-md:break-all max-md:whitespace-normal">
        {email}
        {userId === ownId && <span className="text-muted"> {MEMBERS_TAB.you}</span>}
      </span>
    ),
  },
  {
    title: COMMON.role,
    cell: (member) =>
      isOwner ? (
        <RoleSelect
          label={MEMBERS_TAB.roleOf(member.email)}
          value={member.role}
          disabled={busy}
          className="w-28! max-md:w-24!"
          onChange={(role) => change(member, role)}
        />
      ) : (
        <Badge>{titled(member.role)}</Badge>
      ),
  },
  { title: MEMBERS_TAB.permissions, wide: "widest", cell: ({ role }) => <span className="text-xs text-muted">{ROLE_WORDS[role]}</span> },
  { title: MEMBERS_TAB.joined, numeric: true, wide: true, cell: ({ since }) => (since === null ? null : <Time iso={since} />) },
  {
    title: COMMON.actions,
    numeric: true,
    cell: (member) => {
      const isOwn = member.userId === ownId;
      if (!isOwn && !isOwner) return null;
      return (
        <Button
          size="sm"
          icon={isOwn ? LogOut : UserMinus}
          aria-label={isOwn ? MEMBERS_TAB.leaveOrganization : MEMBERS_TAB.remove(member.email)}
          onClick={() => ask(member)}
        >
          {isOwn ? MEMBERS_TAB.leave : COMMON.remove}
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
  const [memberToRemove, setAsked] = useState<Member>();
  if (members.isPending) return <Skeleton lines={3} />;
  if (!members.data) return <LoadFailure error={members.error} retry={() => void members.refetch()} />;
  const ownId = me?.user.id ?? "";
  const isOwn = memberToRemove?.userId === ownId;
  const change = ({ userId, email }: Member, role: Role): void => {
    const work = () => request("changeMember", { params: { id, userId }, body: { role } });
    void run(work, MEMBERS_TAB.roleChanged(email, role));
  };
  const remove = async ({ userId }: Member): Promise<void> => {
    await request("removeMember", { params: { id, userId } });
    if (isOwn) workFor(chosenOrganization() === id ? undefined : chosenOrganization(), "/organizations");
  };
  return (
    <>
      <Table
        label={COMMON.members}
        columns={columnsOf({ ownId, isOwner: organization.role === "owner", busy, change, ask: setAsked })}
        rows={members.data}
        keyOf={({ userId }) => userId}
      />
      {memberToRemove && (
        <ConfirmDialog
          title={isOwn ? MEMBERS_TAB.leaveQuestion(name) : MEMBERS_TAB.removeQuestion(memberToRemove.email)}
          text={MEMBERS_TAB.keysEnd(isOwn)}
          action={isOwn ? MEMBERS_TAB.leave : COMMON.remove}
          reads={["organizations", "me"]}
          submit={() => remove(memberToRemove)}
          onClose={() => setAsked(undefined)}
        />
      )}
    </>
  );
};
