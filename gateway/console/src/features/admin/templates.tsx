import type { WorkflowSummary } from "@nodeloom/client";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { LayoutTemplate, Star } from "lucide-react";
import { useState } from "react";
import { LoadFailure } from "../../parts/error-pages";
import { request } from "../../api/client";
import { workflowsQuery } from "../../api/queries";
import { useAction } from "../../api/use-action";
import { Button } from "../../ui/button";
import { Dialog } from "../../ui/overlays/dialog";
import { Field, TextArea } from "../../ui/inputs/field";
import { Empty, Skeleton } from "../../ui/notice";
import { Table } from "../../ui/table";
import { Time } from "../../ui/time";
import { AccountName } from "./account-name";

/** Takes a template from everybody's lists; its owner keeps the workflow, and is told why. */
const TakeDown = ({ template, onClose }: { template: WorkflowSummary; onClose: () => void }) => {
  const [reason, setReason] = useState("");
  const { busy, run } = useAction(["workflows"]);
  const takeDown = async (): Promise<void> => {
    const body = { listed: false, reason: reason.trim() };
    const done = await run(
      () => request("adminModerateTemplate", { params: { slug: template.slug }, body }),
      `“${template.name}” is no template any more.`,
    );
    if (done) onClose();
  };
  return (
    <Dialog
      title="Take a template down"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Leave it</Button>
          <Button variant="danger" busy={busy} disabled={reason.trim() === ""} onClick={() => void takeDown()}>
            Take it down
          </Button>
        </>
      }
    >
      <p className="mb-4 text-sm text-muted wrap-anywhere">
        “{template.name}” leaves everybody&apos;s lists, and only its owner runs it from then on. The owner keeps the workflow and sees why.
      </p>
      <Field label="Reason" hint="The owner reads it.">
        {(attributes) => (
          <TextArea {...attributes} autoFocus rows={3} maxLength={500} value={reason} onChange={(event) => setReason(event.target.value)} />
        )}
      </Field>
    </Dialog>
  );
};

/** What is published to everybody. */
export const TemplatesSection = () => {
  const workflows = useQuery(workflowsQuery);
  const [taken, setTaken] = useState<WorkflowSummary>();
  const { busy, run } = useAction(["workflows"]);
  const feature = ({ slug, name, featured }: WorkflowSummary) =>
    run(
      () => request("adminModerateTemplate", { params: { slug }, body: { featured: featured !== true } }),
      featured ? `“${name}” stands among everybody's again.` : `“${name}” stands first now.`,
    );
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
    <>
      {taken && <TakeDown template={taken} onClose={() => setTaken(undefined)} />}
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
          {
            title: "Description",
            wide: "widest",
            cell: ({ description }) => <span className="block truncate text-muted">{description}</span>,
          },
          { title: "Owner", wide: true, cell: ({ createdBy }) => <AccountName id={createdBy} /> },
          { title: "Changed", numeric: true, wide: "widest", cell: ({ updatedAt }) => <Time iso={updatedAt} /> },
          {
            title: "Actions",
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
                  {template.featured ? "Chosen" : "Choose"}
                </Button>
                <Button size="sm" variant="ghost" onClick={() => setTaken(template)}>
                  Take down…
                </Button>
              </span>
            ),
          },
        ]}
      />
    </>
  );
};
