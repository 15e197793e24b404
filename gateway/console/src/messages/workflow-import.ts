export const WORKFLOW_IMPORT = {
  pictureTooLarge: (name: string, mb: number) => `${name} is larger than ${mb} MB, the maximum for a picture.`,
  workflowTooLarge: (name: string, mb: number) => `${name} is larger than ${mb} MB, the maximum for a workflow.`,
  noEmbeddedWorkflow: (name: string) => `${name} contains no ComfyUI workflow.`,
  notJson: (name: string) => `${name} isn't a JSON file.`,
  noNodes: (name: string) => `${name} contains no workflow: it has no list of nodes.`,
};
