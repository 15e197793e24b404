import type { Me } from "@nodeloom/client";
import { useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useRouterState } from "@tanstack/react-router";
import { BookOpen, CircleUser, LogOut, Menu as MenuIcon, Monitor, Moon, Search, Sun, X } from "lucide-react";
import { messageOf, request } from "../api/client";
import { leaveSession } from "../api/session";
import { IconButton } from "../ui/button";
import { classes } from "../ui/classes";
import { balanceWords, creditNumber, shortNumber } from "../ui/format";
import { Keys } from "../ui/keys";
import { Menu } from "../ui/overlays/menu";
import { Tip } from "../ui/overlays/tip";
import { complain } from "../ui/overlays/toast";
import { Logo } from "../parts/logo";
import { usePages, type MenuPage } from "../parts/pages";
import { AccountSwitch } from "./account-switch";
import { useTheme } from "../parts/theme";
import { COMMON } from "../messages/common";
import { NAVIGATION } from "../messages/app";

const CURRENT = "bg-accent-soft text-accent-text!";

const NavLink = ({ entry, compact, onNavigate }: { entry: MenuPage; compact: boolean; onNavigate: () => void }) => {
  // Administration has a page for each of its tabs.
  const isInside = useRouterState({ select: ({ location }) => entry.forAdmins === true && location.pathname.startsWith("/admin/") });
  const link = (
    <Link
      to={entry.to}
      activeOptions={{ exact: entry.to === "/", includeSearch: false }}
      onClick={onNavigate}
      aria-label={compact ? entry.title : undefined}
      className={classes(
        "relative flex items-center gap-2.5 rounded-lg px-2.5 py-2 text-sm font-medium text-muted hover:bg-hover hover:text-text",
        compact && "justify-center px-0",
        isInside && CURRENT,
      )}
      aria-current={isInside ? "page" : undefined}
      activeProps={{ className: CURRENT, "aria-current": "page" }}
    >
      <entry.icon className="size-[18px] shrink-0" aria-hidden />
      {!compact && entry.title}
      {entry.Aside && <entry.Aside compact={compact} />}
    </Link>
  );
  return compact ? (
    <Tip text={entry.title} side="right">
      {link}
    </Tip>
  ) : (
    link
  );
};

const spendable = ({ credits: { plan, topUp } }: Me): number => plan + topUp;

const Balance = ({ me, compact }: { me: Me; compact: boolean }) => (
  <Link
    to="/balance"
    className={classes(
      "block rounded-lg border bg-page/60 text-xs text-muted hover:border-line-strong",
      compact ? "px-1 py-1.5 text-center" : "px-3 py-2",
    )}
  >
    <span className={classes("block truncate font-semibold text-text tabular-nums", compact ? "text-xs" : "text-sm")}>
      {compact ? shortNumber(spendable(me)) : balanceWords(spendable(me))}
    </span>
    {compact ? (
      <span className="sr-only">{NAVIGATION.credits}</span>
    ) : (
      <span>{me.credits.held > 0 ? NAVIGATION.heldByRuns(creditNumber(me.credits.held)) : NAVIGATION.available}</span>
    )}
  </Link>
);

const useSignOut = () => {
  const client = useQueryClient();
  return async (): Promise<void> => {
    try {
      await request("logout", {});
      leaveSession();
      client.clear();
      client.setQueryData(["me"], null);
    } catch (error) {
      complain(messageOf(error));
    }
  };
};

const AccountMenu = ({ me, compact }: { me: Me; compact: boolean }) => {
  const signOut = useSignOut();
  const navigate = useNavigate();
  const own = usePages().flatMap(({ to, title, icon, inAccountMenu }) =>
    inAccountMenu ? [{ label: title, icon, run: () => void navigate({ to }) }] : [],
  );
  const { theme, choose } = useTheme();
  const mark = (name: string, isChosen: boolean): string => (isChosen ? `${name} ✓` : name);
  return (
    <Menu
      align="start"
      trigger={
        <button
          type="button"
          className={classes(
            "flex w-full min-w-0 items-center gap-2.5 rounded-lg px-2.5 py-2 text-left text-sm text-muted hover:bg-hover",
            compact && "justify-center px-0",
          )}
        >
          <CircleUser className="size-[18px] shrink-0" aria-hidden />
          {compact ? <span className="sr-only">{COMMON.account}</span> : <span className="min-w-0 truncate">{me.user.email}</span>}
        </button>
      }
      entries={[
        ...own,
        { label: NAVIGATION.documentation, icon: BookOpen, run: () => window.open("/docs", "_blank", "noopener") },
        null,
        { label: mark(NAVIGATION.light, theme === "light"), icon: Sun, run: () => choose("light") },
        { label: mark(NAVIGATION.dark, theme === "dark"), icon: Moon, run: () => choose("dark") },
        { label: mark(NAVIGATION.matchSystem, theme === "system"), icon: Monitor, run: () => choose("system") },
        null,
        { label: NAVIGATION.signOut, icon: LogOut, run: () => void signOut() },
      ]}
    />
  );
};

export interface SidebarProps {
  me: Me;
  /** Shows icons only, beside the canvas. */
  compact: boolean;
  /** Opened by a button on narrow screens. */
  open: boolean;
  onSearch: () => void;
  onClose: () => void;
}

export const Sidebar = ({ me, compact, open, onSearch, onClose }: SidebarProps) => (
  <>
    {open && <div className="fixed inset-0 z-30 bg-text/30 md:hidden" onClick={onClose} aria-hidden />}
    <nav
      aria-label={NAVIGATION.main}
      className={classes(
        "z-40 flex shrink-0 flex-col gap-1 overflow-y-auto border-r bg-surface p-3",
        compact && !open ? "w-16 max-md:hidden" : "w-60",
        open ? "max-md:fixed max-md:inset-y-0 max-md:left-0 max-md:shadow-high" : "max-md:hidden",
      )}
    >
      <div className={classes("mb-3 flex items-center justify-between", compact ? "justify-center" : "px-1.5")}>
        <Link to="/" aria-label={NAVIGATION.nodeloomYourWorkflows} onClick={onClose}>
          <Logo compact={compact && !open} />
        </Link>
        {open && <IconButton icon={X} label={NAVIGATION.closeMenu} size="sm" onClick={onClose} />}
      </div>
      <div className="mb-2 empty:hidden">
        <AccountSwitch me={me} compact={compact && !open} />
      </div>
      {!compact && (
        <button
          type="button"
          onClick={onSearch}
          className="mb-1 flex items-center gap-2.5 rounded-lg border bg-page/60 px-2.5 py-1.5 text-sm text-muted hover:border-line-strong hover:text-text"
        >
          <Search className="size-4 shrink-0" aria-hidden />
          <span className="flex-1 text-left">{NAVIGATION.search}</span>
          <Keys keys="Mod+K" />
        </button>
      )}
      {usePages()
        .filter(({ inAccountMenu, forAdmins }) => !inAccountMenu && (!forAdmins || me.user.role === "admin"))
        .map((entry) => (
          <NavLink key={entry.to} entry={entry} compact={compact && !open} onNavigate={onClose} />
        ))}
      <div className="mt-auto flex flex-col gap-2">
        <Balance me={me} compact={compact && !open} />
        <AccountMenu me={me} compact={compact && !open} />
      </div>
    </nav>
  </>
);

/** The bar above pages on narrow screens. */
export const TopBar = ({ me, onMenu, onSearch }: { me: Me; onMenu: () => void; onSearch: () => void }) => (
  <header className="flex items-center gap-2 border-b bg-surface px-2 py-1.5 md:hidden">
    <IconButton icon={MenuIcon} label={COMMON.menu} onClick={onMenu} />
    <Logo />
    <span className="ml-auto truncate text-xs text-muted tabular-nums">{balanceWords(spendable(me))}</span>
    <IconButton icon={Search} label={NAVIGATION.search} onClick={onSearch} />
  </header>
);
