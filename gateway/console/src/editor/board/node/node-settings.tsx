import { Dices } from "lucide-react";
import { Suspense, useState } from "react";
import { anySeed, SEED, type NodeSetting } from "../../../canvas/settings";
import type { DocNode } from "../../../document/graph";
import { NODE_SETTINGS } from "../../../messages/editor/models";
import { classes } from "../../../ui/classes";
import { useEditor, useUi } from "../../context";
import { useSetting } from "../../inspector/use-setting";
import { NodeSettingField } from "../../panels/lazy-panels";

/** Text of the value; undefined shows the default. */
const wordsOf = ({ name, schema, value }: NodeSetting): string => {
  const shownValue = value ?? schema.default;
  if (schema.type === "boolean") return shownValue === true ? NODE_SETTINGS.on : NODE_SETTINGS.off;
  if (shownValue === undefined || shownValue === null || shownValue === "") return name === SEED ? NODE_SETTINGS.any : NODE_SETTINGS.auto;
  return typeof shownValue === "object" ? "…" : String(shownValue as string | number);
};

const Setting = ({ node, setting }: { node: DocNode; setting: NodeSetting }) => {
  const { canEdit } = useEditor();
  const locked = useUi((state) => state.locked) || !canEdit;
  const { set } = useSetting(node);
  const [isOpen, setOpen] = useState(false);
  const { label, path, schema, value, name } = setting;
  const onSet = (next: unknown): void => set(path, next);
  const hint = [schema.title ?? label, schema.description].filter((words) => typeof words === "string").join(": ");
  const press = (): void => {
    if (schema.type === "boolean") onSet((value ?? schema.default) !== true);
    else setOpen(true);
  };
  const closed = (
    <span className="node-setting">
      <button type="button" tabIndex={-1} disabled={locked} title={hint} className="node-setting-value" onClick={press}>
        <span className="text-faint">{label}</span>
        <span className={classes("min-w-0 truncate", value === undefined && "text-muted")}>{wordsOf(setting)}</span>
      </button>
      {name === SEED && !locked && (
        <button
          type="button"
          tabIndex={-1}
          className="node-setting-dice"
          aria-label={NODE_SETTINGS.rollTheDice}
          title={NODE_SETTINGS.newSeed}
          onClick={() => set(path, anySeed(schema), NODE_SETTINGS.rollTheDice)}
        >
          <Dices className="size-3.5" aria-hidden />
        </button>
      )}
    </span>
  );
  if (!isOpen || locked) return closed;
  return (
    <Suspense fallback={closed}>
      <NodeSettingField setting={setting} onSet={onSet} onEnd={() => setOpen(false)} />
    </Suspense>
  );
};

/** The main settings of a node, two in a row; a click edits one in its place. */
export const NodeSettings = ({
  node,
  settings,
  top,
  height,
}: {
  node: DocNode;
  settings: readonly NodeSetting[];
  top: number;
  height: number;
}) => (
  <div className="node-settings" style={{ top, height }}>
    {settings.map((setting) => (
      <Setting key={setting.name} node={node} setting={setting} />
    ))}
  </div>
);
