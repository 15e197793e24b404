import { isRecord } from "@nodeloom/kernel/graph";
import { Link2 } from "lucide-react";
import { kindOf } from "../../../canvas/kinds";
import { RARE_INPUTS } from "../../../canvas/ports";
import type { DocNode } from "../../../document/graph";
import { Field, Select } from "../../../ui/inputs/field";
import { Notice } from "../../../ui/notice";
import { useEditor } from "../context";
import { propertiesOf, SchemaControl } from "../../../ui/inputs/schema-control";
import { useSetting, useWired } from "./use-setting";

/** Which model a node calls. */
const ModelSelect = ({ node }: { node: DocNode }) => {
  const { models } = useEditor();
  const { set, disabled } = useSetting(node);
  const { modality } = kindOf(node.type);
  const chosen = typeof node.data.model === "string" ? node.data.model : "";
  const fitting = models.filter((model) => model.modality === modality && model.enabled);
  const model = fitting.find(({ internalName }) => internalName === chosen);
  return (
    <Field label="Model" hint={model?.description}>
      {(attributes) => (
        <Select
          {...attributes}
          disabled={disabled}
          value={chosen}
          onChange={(event) => set(["model"], event.target.value, "Choose a model")}
        >
          {chosen === "" && <option value="">Choose…</option>}
          {chosen !== "" && !model && <option value={chosen}>{chosen} (not available)</option>}
          {fitting.map(({ internalName, displayName, minTier }) => (
            <option key={internalName} value={internalName}>
              {displayName}
              {minTier === "free" ? "" : ` · from ${minTier}`}
            </option>
          ))}
        </Select>
      )}
    </Field>
  );
};

/** Where a setting stands: among the settings that the kind has itself, else among the inputs; what is there stays where it is. */
const placeOf = (node: DocNode, name: string): string[] => {
  const inputs = isRecord(node.data.inputs) ? node.data.inputs : {};
  if (Object.hasOwn(inputs, name)) return ["inputs", name];
  const ofKind = kindOf(node.type).rules?.settings ?? {};
  return Object.hasOwn(node.data, name) || Object.hasOwn(ofKind, name) ? [name] : ["inputs", name];
};

const valueAt = (node: DocNode, path: readonly string[]): unknown =>
  path.reduce<unknown>((value, name) => (isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined), node.data);

/** Settings of a node that calls a model, from the model's own schema. */
export const ModelForm = ({ node }: { node: DocNode }) => {
  const { schemaOf } = useEditor();
  const { set, disabled } = useSetting(node);
  const wired = useWired(node.id);
  const schema = schemaOf(node);
  const properties = propertiesOf(schema);
  const sorted = [...properties.filter(([name]) => !RARE_INPUTS.has(name)), ...properties.filter(([name]) => RARE_INPUTS.has(name))];
  return (
    <div className="flex flex-col gap-4">
      <ModelSelect node={node} />
      {schema === undefined && typeof node.data.model === "string" && (
        <Notice kind="warn">This model is not available. Its settings are kept.</Notice>
      )}
      {sorted.map(([name, property]) => {
        const from = wired.get(name);
        const title = typeof property.title === "string" ? property.title : name;
        if (from !== undefined)
          return (
            <div key={name} className="text-[13px]">
              <div className="font-medium">{title}</div>
              <div className="mt-0.5 flex items-center gap-1.5 text-xs text-muted">
                <Link2 className="size-3.5 shrink-0" aria-hidden /> from {from}
              </div>
            </div>
          );
        const path = placeOf(node, name);
        return (
          <SchemaControl
            key={name}
            name={name}
            label={title}
            schema={property}
            value={valueAt(node, path)}
            disabled={disabled}
            onChange={(value) => set(path, value)}
          />
        );
      })}
    </div>
  );
};
