/** Maps words of other products and everyday words to the words of these pages. */
const SYNONYMS: Readonly<Record<string, readonly string[]>> = {
  "429": ["rate limit", "concurrency"],
  "402": ["insufficient credits", "budget"],
  approve: ["approval", "decision"],
  billing: ["credits", "paying", "ledger"],
  callback: ["webhook"],
  comfy: ["comfyui"],
  cron: ["schedule"],
  fal: ["queue", "request"],
  gdpr: ["erasure", "retention"],
  k8s: ["kubernetes", "helm"],
  loop: ["list", "fan-out", "batch"],
  oauth: ["sign-in", "oidc"],
  ollama: ["servers at home", "llama"],
  password: ["sign-in", "reset"],
  price: ["credits", "quote"],
  pricing: ["credits", "quote", "tier"],
  prometheus: ["metrics", "alerts"],
  quota: ["limits", "budget"],
  promote: ["alias", "production"],
  replicate: ["prediction"],
  revert: ["rollback", "version"],
  rollback: ["alias", "version"],
  s3: ["storage", "bucket"],
  saml: ["sign-in", "oidc"],
  scale: ["replicas", "kubernetes"],
  sso: ["sign-in", "oidc"],
  staging: ["alias", "production"],
  team: ["organization", "member"],
  throttle: ["rate limit"],
  token: ["api key", "session"],
  trigger: ["schedule", "hook"],
  upscale: ["resize", "media"],
};

/** Variants of a query word, starting with the word itself. */
export const waysToSay = (word: string): readonly string[] => {
  const lower = word.toLowerCase();
  return [word, ...(Object.hasOwn(SYNONYMS, lower) ? SYNONYMS[lower]! : [])];
};
