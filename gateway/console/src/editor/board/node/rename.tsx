import { useEffect, useRef } from "react";
import type { DocNode } from "../../../document/graph";
import { useEditor } from "../../context";
import { useSetting } from "../../inspector/use-setting";
import { nodeTitle } from "../../titles";
import { COMMON } from "../../../messages/common";

const MOST_CHARACTERS = 80;

/** Edits a name on the canvas. Enter saves, Escape cancels. */
export const Rename = ({ node, member }: { node: DocNode; member: string }) => {
  const { ui } = useEditor();
  const { set } = useSetting(node);
  const field = useRef<HTMLInputElement>(null);
  const before = nodeTitle(node);
  useEffect(() => field.current?.select(), []);
  const end = (): void => ui.setState({ writing: undefined });
  const keep = (): void => {
    const name = field.current?.value.trim() ?? before;
    if (name !== before) set([member], name === "" ? undefined : name, COMMON.rename);
    end();
  };
  return (
    <input
      ref={field}
      autoFocus
      aria-label={COMMON.name}
      maxLength={MOST_CHARACTERS}
      defaultValue={before}
      className="node-rename nodrag nopan"
      onBlur={keep}
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.key === "Enter") keep();
        if (event.key === "Escape") end();
      }}
    />
  );
};
