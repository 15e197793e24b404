export const EXTRACT = {
  selectNodes: "Select the nodes to convert to a workflow. Inputs and Results nodes stay.",
  nodeBetween: (way: string) => `“${way}” is between the selected nodes. Select it too.`,
};

export const SUBGRAPH_DIALOG = {
  partOf: (name: string) => `Part of ${name}`,
  convertToWorkflow: "Convert to workflow",
  converted: (name: string) => `“${name}” is now a workflow. Double-click its node to open it.`,
  convert: "Convert",
  intro:
    "Links into the selected nodes become its inputs, links out of them its results. One node replaces them here, with the same behavior and price.",
};
