export const MODEL_STATE = {
  needsKey: "needs an API key",
  downloading: "downloading",
  unavailable: "unavailable",
  thisMachine: "this machine",
  sandboxNoAi: "sandbox (no AI)",
  plan: (minTier: string) => `${minTier} plan`,
};

export const PALETTE_BOX = {
  insertANode: "Insert a node",
  sendTo: (name: string) => `Send “${name}” to`,
  fillFrom: (name: string) => `Fill “${name}” from`,
  searchNodesAndModels: "Search nodes and models",
};
