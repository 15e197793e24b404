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
  description: WORKFLOW.summary,
  data: { slug: "" },
  summary: ({ slug }) => textOf(slug) || COMMON.chooseWorkflow,
  form: "workflow",
};
