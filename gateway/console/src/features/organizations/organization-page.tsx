import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { ArrowRight, Pencil } from "lucide-react";
import { useState } from "react";
import { request } from "../../api/client";
import { chosenOrganization, workFor } from "../../api/organization";
import { organizationQuery } from "./queries";
import { LoadFailure } from "../../parts/error-pages";
import { Button } from "../../ui/button";
import { credits, titled } from "../../ui/format";
import { Skeleton } from "../../ui/notice";
import { PromptDialog } from "../../parts/form";
import { Page } from "../../ui/page";
import { Tabs } from "../../ui/tabs";
import { AuditTab } from "./audit-tab";
import { InvitationsTab } from "./invitations-tab";
import { LeavingCard } from "./leaving/leaving-card";
import { MembersTab } from "./members-tab";
import { COMMON } from "../../messages/common";
import { ORGANIZATION_PAGE } from "../../messages/organizations";

const route = getRouteApi("/shell/organizations/$id");

type TabName = "members" | "invitations" | "changes" | "settings";
const TABS: readonly { name: TabName; title: string; owners?: boolean }[] = [
  { name: "members", title: COMMON.members },
  { name: "invitations", title: ORGANIZATION_PAGE.invitations, owners: true },
  { name: "changes", title: ORGANIZATION_PAGE.auditLog, owners: true },
  { name: "settings", title: ORGANIZATION_PAGE.settings, owners: true },
];

export const OrganizationPage = () => {
  const { id } = route.useParams();
  const organizationResult = useQuery(organizationQuery(id));
  const [tab, setTab] = useState<TabName>("members");
  const [naming, setNaming] = useState(false);
  const { data: organization } = organizationResult;
  if (organizationResult.isPending) return <Page title={COMMON.organization}>{<Skeleton lines={5} />}</Page>;
  if (!organization) return <LoadFailure error={organizationResult.error} retry={() => void organizationResult.refetch()} />;
  const isOwner = organization.role === "owner";
  const { plan, topUp } = organization.credits;
  return (
    <Page
      title={organization.name}
      lead={ORGANIZATION_PAGE.summary(titled(organization.role), titled(organization.tier), credits(plan + topUp))}
      actions={
        <>
          {isOwner && (
            <Button icon={Pencil} onClick={() => setNaming(true)}>
              {COMMON.rename}
            </Button>
          )}
          {chosenOrganization() !== id && (
            <Button icon={ArrowRight} variant="primary" onClick={() => workFor(id)}>
              {ORGANIZATION_PAGE.switchToIt}
            </Button>
          )}
        </>
      }
    >
      <Tabs label={COMMON.organization} tabs={TABS.filter(({ owners }) => owners !== true || isOwner)} chosen={tab} onChoose={setTab}>
        <div className="pt-5">
          {tab === "members" && <MembersTab organization={organization} />}
          {tab === "invitations" && <InvitationsTab id={id} />}
          {tab === "changes" && <AuditTab id={id} />}
          {tab === "settings" && <LeavingCard organization={organization} />}
        </div>
      </Tabs>
      {naming && (
        <PromptDialog
          title={ORGANIZATION_PAGE.rename(organization.name)}
          label={COMMON.name}
          initial={organization.name}
          action={COMMON.rename}
          reads={["organizations", "me"]}
          submit={(name) => request("renameOrganization", { params: { id }, body: { name } })}
          onClose={() => setNaming(false)}
        />
      )}
    </Page>
  );
};
