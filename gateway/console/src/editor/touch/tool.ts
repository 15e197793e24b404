import type { ReactNode } from "react";
import type { JsonSchema } from "../../ui/inputs/properties";
import type { DragState } from "./handle-box";
import type { Picture } from "./picture";
import type { Settings } from "./settings";

export interface ToolProps {
  picture: Picture;
  /** The second picture, of operations that have one. */
  overlay: Picture | undefined;
  /** Stored settings with the edits so far. */
  settings: Settings;
  change: (changes: Settings) => void;
  /** A control for a setting of the operation. */
  control: (name: string, schema?: Partial<JsonSchema>) => ReactNode;
  /** Takes back the edits since this render. */
  restore: () => void;
  drag: DragState;
  /** Places the picture beside its fields. */
  layout: (surface: ReactNode, fields: ReactNode) => ReactNode;
}
