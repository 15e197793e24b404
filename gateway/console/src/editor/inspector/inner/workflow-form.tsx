import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { SquareArrowOutUpRight } from "lucide-react";
import { useEffect } from "react";
import { api } from "../../../api/client";
import { workflowsQuery } from "../../../api/queries";
import type { DocNode } from "../../../document/graph";
import { buttonClasses } from "../../../ui/button";
import { SelectField } from "../../../ui/inputs/field";
import { SchemaControl } from "../../../ui/inputs/schema-control";
import { Notice } from "../../../ui/notice";
import { useEditor } from "../../context";
import { useSetting, useWired } from "../use-setting";
import { innerOf, portsOf, type InnerWorkflow } from "./ports";
import { WiredField } from "../wired-field";
import { COMMON } from "../../../messages/common";
import { WORKFLOW_FORM } from "../../../messages/editor/inspector";

const JSON_TYPES: Readonly<Record<string, string>> = { number: "number", boolean: "boolean", json: "object" };

export const slugOf = ({ data }: DocNode): string => (typeof data.slug === "string" ? data.slug : "");

/** The chosen workflow, as far as it is loaded. */
export const useInner = (slug: string) =>
  useQuery({
    queryKey: ["inner-workflow", slug],
    queryFn: async ({ signal }) => innerOf(await api.workflows.get(slug, { signal })),
    enabled: slug !== "",
  });

/** Chooses a workflow and its version, and keeps the ports that the node shows up to date. */
export const InnerChoice = ({ node }: { node: DocNode }) => {
  const { slug: ownSlug, canEdit } = useEditor();
  const { set, disabled } = useSetting(node);
  const slug = slugOf(node);
  const choices = (useQuery(workflowsQuery).data ?? []).filter((one) => one.slug !== ownSlug && !one.archived);
  const inner = useInner(slug);
  const ports = inner.data && portsOf(node.type, inner.data);
  const isOld = ports !== undefined && JSON.stringify(ports) !== JSON.stringify(node.data.ports);
  useEffect(() => {
    // Updates the stored ports to the workflow's current ones.
    if (isOld && canEdit) set(["ports"], ports, COMMON.chooseWorkflow);
  });
  return (
    <>
      <SelectField
        label={COMMON.workflow}
        hint={WORKFLOW_FORM.workflowHint}
        disabled={disabled}
        value={slug}
        onText={(text) => set(["slug"], text, COMMON.chooseWorkflow)}
      >
        {slug === "" && <option value="">{COMMON.choose}</option>}
        {slug !== "" && !choices.some((one) => one.slug === slug) && <option value={slug}>{inner.data?.name ?? slug}</option>}
        {[false, true].map((isTemplate) => (
          <optgroup key={String(isTemplate)} label={isTemplate ? COMMON.templates : WORKFLOW_FORM.yourWorkflows}>
            {choices
              .filter((one) => one.isTemplate === isTemplate)
              .map((one) => (
                <option key={one.slug} value={one.slug}>
                  {one.name}
                </option>
              ))}
          </optgroup>
        ))}
      </SelectField>
      {inner.data && (
        <Link to="/workflows/$slug" params={{ slug }} className={buttonClasses("secondary", "sm")}>
          <SquareArrowOutUpRight className="mr-1.5 size-4" aria-hidden /> {WORKFLOW_FORM.open(inner.data.name)}
        </Link>
      )}
      {inner.isError && <Notice kind="warn">{WORKFLOW_FORM.workflowMissing}</Notice>}
      <SelectField
        label={COMMON.version}
        hint={WORKFLOW_FORM.versionHint}
        disabled={disabled}
        value={node.data.version === undefined || node.data.version === null ? "" : String(node.data.version)}
        onText={(text) => set(["version"], text === "" ? undefined : text)}
      >
        <option value="">{WORKFLOW_FORM.newestVersion}</option>
        <option value="draft">{WORKFLOW_FORM.draft}</option>
        {typeof node.data.version === "number" && (
          <option value={String(node.data.version)}>{WORKFLOW_FORM.version(node.data.version)}</option>
        )}
      </SelectField>
    </>
  );
};

/** Values of the fields that aren't connected. */
export const InnerFields = ({ node, fields }: { node: DocNode; fields: InnerWorkflow["fields"] }) => {
  const { set, disabled } = useSetting(node);
  const wired = useWired(node.id);
  const inputs = (typeof node.data.inputs === "object" && node.data.inputs !== null ? node.data.inputs : {}) as Record<string, unknown>;
  return (
    <>
      {fields.map(({ name, label, type, options, multiple, default: fallback }) => {
        const from = wired.get(name);
        if (from !== undefined) return <WiredField key={name} label={label} from={from} />;
        return (
          <SchemaControl
            key={name}
            name={name}
            label={label}
            schema={{
              type: multiple === true ? "object" : (JSON_TYPES[type] ?? "string"),
              ...(options ? { enum: options } : {}),
              ...(fallback === undefined ? {} : { default: fallback }),
            }}
            value={inputs[name]}
            disabled={disabled}
            onChange={(value) => set(["inputs", name], value)}
          />
        );
      })}
    </>
  );
};

/** Form of a workflow node: workflow and field values. */
export const WorkflowForm = ({ node }: { node: DocNode }) => {
  const inner = useInner(slugOf(node));
  return (
    <div className="flex flex-col gap-4">
      <InnerChoice node={node} />
      <InnerFields node={node} fields={inner.data?.fields ?? []} />
    </div>
  );
};
