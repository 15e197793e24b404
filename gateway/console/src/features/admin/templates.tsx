import type { WorkflowSummary } from "@nodeloom/client";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { LayoutTemplate, Star } from "lucide-react";
import { useState } from "react";
import { FormDialog } from "../../parts/form";
import { LoadFailure } from "../../parts/error-pages";
import { request } from "../../api/client";
import { workflowsQuery } from "../../api/queries";
import { useChange } from "../../api/use-change";
import { Button } from "../../ui/button";
import { AreaField } from "../../ui/inputs/field";
import { Empty, Skeleton } from "../../ui/notice";
import { Table } from "../../ui/table";
import { Time } from "../../ui/time";
import { AccountName } from "./account-name";
import { COMMON } from "../../messages/common";
import { TEMPLATES } from "../../messages/admin";

/** Hides a template from public lists; its owner keeps the workflow and sees the reason. */
const TakeDown = ({ template: { slug, name }, onClose }: { template: WorkflowSummary; onClose: () => void }) => (
  <FormDialog
    title={TEMPLATES.removeTemplate}
    action={COMMON.remove}
    cancel={TEMPLATES.keepTemplate}
    danger
    reads={["workflows"]}
    submit={(data) =>
      request("adminModerateTemplate", { params: { slug }, body: { listed: false, reason: String(data.get("reason")).trim() } })
    }
    successText={TEMPLATES.removed(name)}
    onClose={onClose}
  >
    <p className="text-sm text-muted wrap-anywhere">{TEMPLATES.removeHint(name)}</p>
    <AreaField label={TEMPLATES.reason} hint={TEMPLATES.reasonHint} name="reason" required data-first rows={3} maxLength={500} />
  </FormDialog>
);

export const TemplatesSection = () => {
  const workflows = useQuery(workflowsQuery);
  const [takenTemplate, setTaken] = useState<WorkflowSummary>();
  const { busy, run } = useChange("workflows");
  const feature = ({ slug, name, featured }: WorkflowSummary) =>
    run(
      () => request("adminModerateTemplate", { params: { slug }, body: { featured: featured !== true } }),
      featured ? TEMPLATES.unfeatured(name) : TEMPLATES.isFeatured(name),
    );
  if (workflows.isPending) return <Skeleton lines={6} />;
  if (workflows.isError) return <LoadFailure error={workflows.error} retry={() => void workflows.refetch()} />;
  const templates = workflows.data.filter(({ isTemplate }) => isTemplate);
  if (templates.length === 0)
    return (
      <Empty icon={LayoutTemplate} title={TEMPLATES.noTemplates}>
        {TEMPLATES.emptyHint}
      </Empty>
    );
  return (
    <>
      {takenTemplate && <TakeDown template={takenTemplate} onClose={() => setTaken(undefined)} />}
      <Table<WorkflowSummary>
        label={COMMON.templates}
        rows={templates}
        keyOf={({ slug }) => slug}
        columns={[
          {
            title: COMMON.template,
            cell: ({ slug, name }) => (
              <Link to="/workflows/$slug" params={{ slug }} className="block truncate font-medium text-accent-text hover:underline">
                {name}
              </Link>
            ),
          },
          {
            title: COMMON.description,
            wide: "widest",
            cell: ({ description }) => <span className="block truncate text-muted">{description}</span>,
          },
          { title: TEMPLATES.owner, wide: true, cell: ({ createdBy }) => <AccountName id={createdBy} /> },
          { title: TEMPLATES.changed, numeric: true, wide: "widest", cell: ({ updatedAt }) => <Time iso={updatedAt} /> },
          {
            title: COMMON.actions,
            numeric: true,
            cell: (template) => (
              <span className="flex justify-end gap-1 max-md:flex-col max-md:items-end">
                <Button
                  size="sm"
                  variant="ghost"
                  icon={Star}
                  busy={busy}
                  aria-pressed={template.featured === true}
                  onClick={() => void feature(template)}
                >
                  {template.featured ? TEMPLATES.featured : TEMPLATES.feature}
                </Button>
                <Button size="sm" variant="ghost" onClick={() => setTaken(template)}>
                  {TEMPLATES.remove}
                </Button>
              </span>
            ),
          },
        ]}
      />
    </>
  );
};
