import type { ReactNode } from "react";
import type { FormName, Kind } from "../../canvas/kinds";
import type { DocNode } from "../../document/graph";
import { ExpressionForm } from "./expression-form";
import { FieldsForm } from "./fields-form";
import { LoopForm } from "./inner/loop-form";
import { WorkflowForm } from "./inner/workflow-form";
import { ModelForm } from "./model-form";
import { NoteForm } from "./note-form";
import { ResultsForm } from "./results-form";
import { SettingsForm } from "./settings-form";
import { FileForm, HttpForm, ListForm, RawForm, TextForm } from "./simple-forms";
import { SwitchForm } from "./switch-form";

export type Form = (props: { node: DocNode }) => ReactNode;

/** Forms for kinds that need more than one control per setting; each kind in canvas/kinds names its form. */
const BY_HAND: Readonly<Record<FormName, Form>> = {
  fields: FieldsForm,
  text: TextForm,
  http: HttpForm,
  file: FileForm,
  list: ListForm,
  expression: ExpressionForm,
  cases: SwitchForm,
  workflow: WorkflowForm,
  loop: LoopForm,
};

/** Form of a kind: its own, or one generated from the kernel's table; JSON for unknown kinds. */
export const formOf = ({ rules, form }: Kind): Form => {
  if (form !== undefined) return BY_HAND[form];
  if (!rules) return RawForm;
  if (rules.isResult === true) return ResultsForm;
  if (!rules.runs) return NoteForm;
  return rules.portsOfModel === true ? ModelForm : SettingsForm;
};
