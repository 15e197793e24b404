import { Workflow } from "lucide-react";
import { textOf, type Look } from "./look";

export const workflow: Look = {
  type: "workflow",
  title: "Workflow",
  group: "Data",
  icon: Workflow,
  id: "part",
  words:
    "subflow, subworkflow, sub-workflow, execute workflow, execute sub-workflow, nested, inner workflow, call workflow, reuse, component, subgraph, module",
  description: "Runs another workflow as a part",
  data: { slug: "" },
  summary: ({ slug }) => textOf(slug) || "Choose a workflow",
  form: "workflow",
};
