import type { ReactNode } from "react";
import type { Kind } from "../../canvas/kinds";
import type { DocNode } from "../../document/graph";
import { ExpressionForm } from "./expression-form";
import { FieldsForm } from "./fields-form";
import { WorkflowForm } from "./inner/workflow-form";
import { ModelForm } from "./model-form";
import { ResultsForm } from "./results-form";
import { SettingsForm } from "./settings-form";
import { SwitchForm } from "./switch-form";
import { NoteForm } from "./note-form";
import { FileForm, HttpForm, ListForm, RawForm, TextForm } from "./simple-forms";

export type Form = (props: { node: DocNode }) => ReactNode;

/** Forms by hand, for kinds whose settings ask for more than a control each. */
const BY_HAND: Readonly<Record<string, Form>> = {
  "request-input": FieldsForm,
  "text-box": TextForm,
  "http-request": HttpForm,
  "media-upload": FileForm,
  list: ListForm,
  json: ExpressionForm,
  switch: SwitchForm,
  workflow: WorkflowForm,
};

/** The form of a kind's settings: by hand where there is one, else made of the kernel's table; JSON for unknown kinds. */
export const formOf = ({ type, rules }: Kind): Form => {
  const own = BY_HAND[type];
  if (own) return own;
  if (!rules) return RawForm;
  if (rules.isResult === true) return ResultsForm;
  if (!rules.runs) return NoteForm;
  return rules.portsOfModel === true ? ModelForm : SettingsForm;
};
