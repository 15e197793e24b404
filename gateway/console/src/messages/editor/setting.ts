export const USE_SETTING = {
  edit: (node: string) => `Edit ${node}`,
  editInputs: "Edit inputs",
};
