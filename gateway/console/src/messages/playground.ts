export const PLAYGROUND_PAGE = {
  playgroundNotFound: "Playground not found",
  notFoundHint: "It was removed, or its owner doesn't share it.",
  awaitsApproval: "Your account awaits approval. You can run this once it is approved.",
  costHint: "A run costs your credits.",
  signInTitle: "Sign in to run this",
  signInOrCreateAccount: "Sign in or create account",
  signInHint: "You pay with your own credits. After you sign in, you return here and your inputs are kept.",
  nodeloom: "Nodeloom",
};
