import { Workflow } from "lucide-react";
import { textOf, type Look } from "./look";
import { COMMON } from "../../messages/common";
import { WORKFLOW } from "../../messages/canvas";

export const workflow: Look = {
  type: "workflow",
  order: 16,
  title: COMMON.workflow,
  group: "data",
  icon: Workflow,
  id: "part",
  words:
    "subflow, subworkflow, sub-workflow, execute workflow, execute sub-workflow, nested, inner workflow, call workflow, reuse, component, subgraph, module",
  description: WORKFLOW.summary,
  data: { slug: "" },
  summary: ({ slug }) => textOf(slug) || COMMON.chooseWorkflow,
  form: "workflow",
};
