import type { WorkflowSummary } from "@nodeloom/client";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { LayoutTemplate } from "lucide-react";
import { LoadFailure } from "../../app/error-pages";
import { workflowsQuery } from "../../api/queries";
import { Empty, Skeleton } from "../../ui/notice";
import { Table } from "../../ui/table";
import { Time } from "../../ui/time";

/** What is published to everybody. */
export const TemplatesSection = () => {
  const workflows = useQuery(workflowsQuery);
  if (workflows.isPending) return <Skeleton lines={6} />;
  if (workflows.isError) return <LoadFailure error={workflows.error} retry={() => void workflows.refetch()} />;
  const templates = workflows.data.filter(({ isTemplate }) => isTemplate);
  if (templates.length === 0)
    return (
      <Empty icon={LayoutTemplate} title="No templates">
        Owners publish them in the settings of a workflow.
      </Empty>
    );
  return (
    <Table<WorkflowSummary>
      label="Templates"
      rows={templates}
      keyOf={({ slug }) => slug}
      columns={[
        {
          title: "Template",
          cell: ({ slug, name }) => (
            <Link to="/workflows/$slug" params={{ slug }} className="block truncate font-medium text-accent-text hover:underline">
              {name}
            </Link>
          ),
        },
        { title: "Description", wide: true, cell: ({ description }) => <span className="block truncate text-muted">{description}</span> },
        { title: "Owner", wide: true, cell: ({ createdBy }) => <code className="block truncate font-mono text-xs">{createdBy}</code> },
        { title: "Changed", numeric: true, cell: ({ updatedAt }) => <Time iso={updatedAt} /> },
      ]}
    />
  );
};
