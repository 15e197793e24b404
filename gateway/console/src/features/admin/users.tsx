import type { AdminUser } from "@nodeloom/client";
import { TIERS } from "@nodeloom/kernel/plans";
import { useQuery } from "@tanstack/react-query";
import { Coins, Copy, Download, Ellipsis, KeyRound, List, ShieldCheck, ShieldOff, Trash2, Unlink, UserCheck, UserX } from "lucide-react";
import { useState } from "react";
import { titled } from "../../ui/format";
import { request } from "../../api/client";
import { tiersQuery } from "./queries";
import { useChange } from "../../api/use-change";
import { ConfirmDialog } from "../../parts/form";
import { Badge } from "../../ui/badge";
import { Button, IconButton } from "../../ui/button";
import { Check, Input, Select } from "../../ui/inputs/field";
import { Menu } from "../../ui/overlays/menu";
import { say } from "../../ui/overlays/toast";
import type { Column } from "../../ui/table";
import { Time } from "../../ui/time";
import { DeleteDialog, ExportDialog, ResetDialog, SecondFactorDialog, UnlinkDialog } from "./user-dialogs";
import { LedgerDialog, UserCreditsDialog } from "./credits-dialog";
import { Paged } from "../../parts/paged";
import { COMMON } from "../../messages/common";
import { USERS } from "../../messages/admin";

type User = AdminUser;
const DIALOGS = {
  credits: UserCreditsDialog,
  ledger: LedgerDialog,
  reset: ResetDialog,
  "second-factor": SecondFactorDialog,
  delete: DeleteDialog,
  export: ExportDialog,
  unlink: UnlinkDialog,
};
type Asking = { what: keyof typeof DIALOGS; user: User };

/** Changes a tier after a confirmation, because this changes the account's rights and price. */
const TierSelect = ({ user }: { user: User }) => {
  const tiers = useQuery(tiersQuery);
  const [askedTier, setAsked] = useState<string>();
  const names = [...TIERS, ...(tiers.data ?? []).map(({ id }) => id)];
  return (
    <>
      <Select
        aria-label={USERS.planOf(user.email)}
        className="h-7! w-32! text-[13px]!"
        value={user.tier}
        onText={setAsked}
        options={[...new Set([...names, user.tier])].map((tier) => [tier, titled(tier)] as const)}
      />
      {askedTier !== undefined && (
        <ConfirmDialog
          title={USERS.changePlan(titled(askedTier))}
          action={USERS.changePlanTo(titled(askedTier))}
          danger={false}
          reads={["admin-users"]}
          submit={() => request("adminUpdateUser", { params: { id: user.id }, body: { tier: askedTier } })}
          successText={USERS.planChanged(user.email, titled(askedTier))}
          onClose={() => setAsked(undefined)}
          text={USERS.planChanges(user.email, titled(user.tier))}
        />
      )}
    </>
  );
};

const UserActions = ({ user, ask }: { user: User; ask: (asking: Asking) => void }) => {
  const { busy, run } = useChange("admin-users");
  const change = (body: Record<string, unknown>, doneMessage: string): void =>
    void run(() => request("adminUpdateUser", { params: { id: user.id }, body }), doneMessage);
  const { email, approved, suspended, role } = user;
  return (
    <span className="flex items-center justify-end gap-1">
      {!approved && (
        <Button size="sm" variant="primary" busy={busy} icon={UserCheck} onClick={() => change({ approved: true }, USERS.approved(email))}>
          {USERS.approve}
        </Button>
      )}
      <Menu
        trigger={<IconButton icon={Ellipsis} size="sm" label={USERS.actionsFor(email)} />}
        entries={[
          { label: USERS.addCredits, icon: Coins, run: () => ask({ what: "credits", user }) },
          { label: USERS.ledger, icon: List, run: () => ask({ what: "ledger", user }) },
          {
            label: USERS.copyId,
            icon: Copy,
            run: () => void navigator.clipboard.writeText(user.id).then(() => say(USERS.idCopied)),
          },
          { label: USERS.passwordLink, icon: KeyRound, run: () => ask({ what: "reset", user }) },
          ...(user.secondFactor
            ? [{ label: USERS.turnOffTwoFactorAuthentication, icon: ShieldOff, run: () => ask({ what: "second-factor", user }) }]
            : []),
          { label: USERS.unlinkFromProvider, icon: Unlink, run: () => ask({ what: "unlink", user }) },
          { label: USERS.exportData, icon: Download, run: () => ask({ what: "export", user }) },
          null,
          {
            label: role === "admin" ? USERS.removeAdministratorRole : USERS.makeAdministrator,
            icon: ShieldCheck,
            run: () => change({ role: role === "admin" ? "user" : "admin" }, USERS.changed(email)),
          },
          ...(approved
            ? [
                {
                  label: USERS.revokeApproval,
                  icon: UserX,
                  danger: true,
                  run: () => change({ approved: false }, USERS.approvalOfRevoked(email)),
                },
              ]
            : []),
          {
            label: suspended ? USERS.restoreAccount : USERS.suspend,
            icon: UserX,
            danger: !suspended,
            run: () => change({ suspended: !suspended }, USERS.suspended(email, suspended)),
          },
          {
            label: user.erasesAt === null ? COMMON.deleteMenu : USERS.cancelDeletion,
            icon: Trash2,
            danger: true,
            run: () => ask({ what: "delete", user }),
          },
        ]}
      />
    </span>
  );
};

const States = ({ approved, suspended, role, erasesAt }: User) => (
  <>
    {erasesAt !== null && <Badge tone="bad">{USERS.leaving}</Badge>}
    {suspended === true ? (
      <Badge tone="bad">{USERS.suspendedState}</Badge>
    ) : approved ? (
      <Badge tone="ok">{USERS.approvedState}</Badge>
    ) : (
      <Badge tone="warn">{USERS.awaitingApproval}</Badge>
    )}
    {role === "admin" && <Badge tone="accent">{USERS.admin}</Badge>}
  </>
);

/** On narrow screens, state and tier are below the name. */
const columnsOf = (ask: (asking: Asking) => void): readonly Column<User>[] => [
  {
    title: COMMON.account,
    className: "max-md:max-w-44",
    cell: (user) => (
      <span className="block min-w-0">
        <span className="block truncate font-medium" title={user.email}>
          {user.email}
        </span>
        <span className="mt-1.5 flex flex-wrap items-center gap-1 md:hidden">
          <States {...user} />
          <TierSelect user={user} />
        </span>
      </span>
    ),
  },
  {
    title: COMMON.status,
    wide: true,
    cell: (user) => (
      <span className="flex flex-wrap gap-1">
        <States {...user} />
      </span>
    ),
  },
  { title: COMMON.plan, wide: true, cell: (user) => <TierSelect user={user} /> },
  { title: USERS.since, numeric: true, wide: "widest", cell: ({ createdAt }) => <Time iso={createdAt} /> },
  { title: COMMON.actions, numeric: true, cell: (user) => <UserActions user={user} ask={ask} /> },
];

const PAGE = 50;

export const UsersSection = () => {
  const [q, setQ] = useState("");
  const [waiting, setWaiting] = useState(false);
  const [asking, setAsking] = useState<Asking>();
  const Asked = asking && DIALOGS[asking.what];
  return (
    <>
      <div className="mb-4 flex flex-wrap items-center gap-4">
        <Input
          type="search"
          aria-label={USERS.searchAccounts}
          placeholder={USERS.searchByEmail}
          className="min-w-48 flex-1"
          value={q}
          onText={setQ}
        />
        <Check label={USERS.awaitingApprovalFilter} checked={waiting} onCheck={setWaiting} />
      </div>
      <Paged<User>
        key={`${q} ${waiting}`}
        label={USERS.accounts}
        queryKey={["admin-users", q, waiting]}
        read={async (cursor, signal) => {
          const query = {
            limit: PAGE,
            ...(q === "" ? {} : { q }),
            ...(waiting ? { approved: "false" as const } : {}),
            ...(cursor === undefined ? {} : { cursor }),
          };
          return (await request("adminListUsers", { query, signal })).body;
        }}
        columns={columnsOf(setAsking)}
        keyOf={({ id }) => id}
        empty={USERS.noMatchingAccounts}
      />
      {Asked && <Asked user={asking.user} onClose={() => setAsking(undefined)} />}
    </>
  );
};
