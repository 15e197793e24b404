import type { Me } from "@nodeloom/client";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Building2, ChevronsUpDown, CircleUser, Settings2 } from "lucide-react";
import { ownerIdOf, workFor } from "../api/organization";
import { organizationsQuery } from "../api/queries";
import { classes } from "../ui/classes";
import { Menu } from "../ui/overlays/menu";
import { COMMON } from "../messages/common";
import { ACCOUNT_SWITCH } from "../messages/app";

/** Switches accounts; shown to members of organizations. */
export const AccountSwitch = ({ me, compact }: { me: Me; compact: boolean }) => {
  const { data = [] } = useQuery(organizationsQuery);
  const navigate = useNavigate();
  const ownerId = ownerIdOf(me);
  if (data.length < 2 && me.organization === undefined) return null;
  const Icon = me.organization === undefined ? CircleUser : Building2;
  const name = me.organization?.name ?? ACCOUNT_SWITCH.personalAccount;
  return (
    <Menu
      align="start"
      trigger={
        <button
          type="button"
          aria-label={ACCOUNT_SWITCH.account(name)}
          className={classes(
            "flex w-full min-w-0 items-center gap-2.5 rounded-lg border px-2.5 py-2 text-left text-sm font-medium hover:bg-hover",
            compact && "justify-center px-0",
          )}
        >
          <Icon className="size-[18px] shrink-0" aria-hidden />
          {!compact && (
            <>
              <span className="min-w-0 flex-1 truncate">{name}</span>
              <ChevronsUpDown className="size-4 shrink-0 text-faint" aria-hidden />
            </>
          )}
        </button>
      }
      entries={[
        ...data.map(({ id, name: title, personal }) => ({
          label: `${personal ? ACCOUNT_SWITCH.personalAccount : title}${id === ownerId ? " ✓" : ""}`,
          icon: personal ? CircleUser : Building2,
          run: () => workFor(personal ? undefined : id),
        })),
        null,
        { label: COMMON.organizations, icon: Settings2, run: () => void navigate({ to: "/organizations" }) },
      ]}
    />
  );
};
