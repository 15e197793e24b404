export const CLIPBOARD = {
  theClipboardIsEmpty: "The clipboard is empty.",
  theClipboardContentIsLarger: "The clipboard content is larger than the limit of a workflow (8 MB).",
  theClipboardHasNoValid: "The clipboard has no valid JSON. Copy nodes from a workflow, or an exported workflow.",
  theClipboardHasNoList: "The clipboard has no list of nodes. Copy nodes from a workflow, or an exported workflow.",
  theClipboardHasNoNode: "The clipboard has no node with an id and a type. Copy nodes from a workflow, or an exported workflow.",
  theClipboardHasNodesA: (count: number, most: number) => `The clipboard has ${count} nodes. A workflow can have at most ${most}.`,
};

export const DOCUMENT = {
  thisWorkflowWasChangedElsewhere: "This workflow was changed elsewhere in the same settings.",
  othersAreSavingThisWorkflow: "Others are saving this workflow. Trying again.",
  useTheOtherVersion: "Use the other version",
};
