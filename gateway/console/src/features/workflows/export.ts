import { workflowText } from "../../api/workflow-remote";

/** Downloads a workflow as saved JSON. @throws NodeloomError */
export const exportWorkflow = async (slug: string): Promise<void> => {
  const url = URL.createObjectURL(new Blob([await workflowText(slug)], { type: "application/json" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = `${slug}.json`;
  link.click();
  URL.revokeObjectURL(url);
};
