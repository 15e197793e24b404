import { Clapperboard, Crop } from "lucide-react";
import { kindOf } from "../../canvas/kinds";
import { wordsOf } from "../../canvas/settings";
import type { DocNode } from "../../document/graph";
import { propertiesOf } from "../../ui/inputs/properties";
import { SchemaControl } from "../../ui/inputs/schema-control";
import { Button } from "../../ui/button";
import { useEditor } from "../context";
import { editTitle, isTimed, touchedBy } from "../touch/touchable";
import { useSetting, useWired } from "./use-setting";
import { WiredField } from "./wired-field";
import { SETTINGS_FORM } from "../../messages/editor/inspector";

/** Settings under "More", or only in other forms. */
const ELSEWHERE: ReadonlySet<string> = new Set(["maxItems", "inputs", "onItemError", "onRetired"]);

/** A control per setting, from the JSON Schemas in the kernel's table. */
export const SettingsForm = ({ node }: { node: DocNode }) => {
  const { ui } = useEditor();
  const { set, disabled } = useSetting(node);
  const wired = useWired(node.id);
  const { rules } = kindOf(node.type);
  // Settings that depend on other settings come after them.
  const all = [...Object.entries(rules?.settings ?? {}), ...propertiesOf(rules?.schema?.(node))];
  const settings = all.filter(([name]) => !ELSEWHERE.has(name));
  if (settings.length === 0) return <p className="text-sm text-muted">{SETTINGS_FORM.noSettings}</p>;
  const operation = touchedBy(node);
  return (
    <div className="flex flex-col gap-4">
      {operation !== undefined && !disabled && (
        <Button icon={isTimed(operation) ? Clapperboard : Crop} className="self-start" onClick={() => ui.setState({ overlay: "touch" })}>
          {editTitle(operation)}
        </Button>
      )}
      {settings.map(([name, schema]) => {
        const from = wired.get(name);
        const label = typeof schema.title === "string" ? schema.title : wordsOf(name);
        if (from === undefined)
          return (
            <SchemaControl
              key={name}
              name={name}
              label={label}
              schema={schema}
              value={node.data[name]}
              disabled={disabled}
              onChange={(value) => set([name], value)}
            />
          );
        return <WiredField key={name} label={label} from={from} />;
      })}
    </div>
  );
};
