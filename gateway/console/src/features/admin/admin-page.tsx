import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { ShieldX } from "lucide-react";
import type { ReactNode } from "react";
import { meQuery } from "../../api/queries";
import { classes } from "../../ui/classes";
import { Empty } from "../../ui/notice";
import { Page } from "../../ui/page";
import { useChosenInView } from "../../ui/use-chosen-in-view";
import { ModelOrdersSection } from "./orders/model-orders";
import { AuditSection } from "./audit";
import { LedgerSection } from "./ledger";
import { ModelsSection } from "./models";
import { ModerationSection } from "./moderation";
import { OrganizationsSection } from "./organizations";
import { RunsSection } from "./runs";
import { TemplatesSection } from "./templates";
import { TiersSection } from "./tiers";
import { UsersSection } from "./users";
import { COMMON } from "../../messages/common";
import { ADMIN_PAGE } from "../../messages/admin";

const route = getRouteApi("/shell/admin/$section");

const SECTIONS: readonly (readonly [string, string, () => ReactNode])[] = [
  ["users", ADMIN_PAGE.users, UsersSection],
  ["organizations", COMMON.organizations, OrganizationsSection],
  ["models", COMMON.models, ModelsSection],
  ["tasks", ADMIN_PAGE.modelOrder, ModelOrdersSection],
  ["tiers", COMMON.plans, TiersSection],
  ["templates", COMMON.templates, TemplatesSection],
  ["runs", COMMON.runs, RunsSection],
  ["moderation", ADMIN_PAGE.moderation, ModerationSection],
  ["ledger", ADMIN_PAGE.ledgerCheck, LedgerSection],
  ["audit", ADMIN_PAGE.auditLog, AuditSection],
];

export const AdminPage = () => {
  const { section } = route.useParams();
  const row = useChosenInView<HTMLElement>(section);
  const { data: me } = useSuspenseQuery(meQuery);
  if (me?.user.role !== "admin")
    return (
      <div className="mx-auto max-w-2xl px-4 py-16">
        <Empty isPage icon={ShieldX} title={ADMIN_PAGE.administratorsOnly} />
      </div>
    );
  const [, , Section] = SECTIONS.find(([name]) => name === section) ?? SECTIONS[0]!;
  return (
    <Page title={ADMIN_PAGE.administration}>
      <nav ref={row} aria-label={ADMIN_PAGE.administration} className="mb-5 flex gap-1 overflow-x-auto border-b">
        {SECTIONS.map(([name, title]) => (
          <Link
            key={name}
            to="/admin/$section"
            params={{ section: name }}
            className={classes(
              "-mb-px border-b-2 px-3 py-2 text-sm max-md:py-3 font-medium whitespace-nowrap",
              name === section ? "border-accent text-text" : "border-transparent text-muted hover:text-text",
            )}
            aria-current={name === section ? "page" : undefined}
          >
            {title}
          </Link>
        ))}
      </nav>
      <Section />
    </Page>
  );
};
