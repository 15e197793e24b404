export const PLAYGROUND_PAGE = {
  playgroundNotFound: "Playground not found",
  itWasRemovedOrIts: "It was removed, or its owner doesn't share it.",
  yourAccountAwaitsApprovalYou: "Your account awaits approval. You can run this once it is approved.",
  aRunCostsYourCredits: "A run costs your credits.",
  signInToRunThis: "Sign in to run this",
  signInOrCreateAccount: "Sign in or create account",
  youPayWithYourOwn: "You pay with your own credits. After you sign in, you return here and your inputs are kept.",
  nodeloom: "Nodeloom",
};
