/**
 * Which services call which: the one place where it is written. A service allows these callers and itself (its own health
 * probe), by the name in their certificates; the network policies of the Helm chart follow it, and a test compares them.
 */
export const CALLERS = {
  identity: ["gateway", "executions", "models"],
  workflows: ["gateway", "executions", "media"],
  models: ["gateway", "executions"],
  billing: ["gateway", "executions"],
  usage: ["gateway", "executions"],
  executions: ["gateway"],
  media: ["gateway", "executions", "workflows", "transform"],
  transform: ["executions", "media"],
} as const satisfies Record<string, readonly string[]>;

/** Methods that not all callers of their service may call, by their path. */
export const METHOD_CALLERS: Readonly<Record<string, readonly string[]>> = {
  "/nodeloom.identity.v1.IdentityService/ReadSecrets": ["executions", "models"],
  "/nodeloom.media.v1.MediaService/DecideHeld": ["executions"],
  "/nodeloom.identity.v1.AccountErasureService/BeginErasure": ["executions"],
  "/nodeloom.identity.v1.AccountErasureService/EndErasure": ["executions"],
  "/nodeloom.identity.v1.AccountErasureService/ForgetErased": ["executions"],
  "/nodeloom.erasure.v1.ErasureService/Erase": ["executions"],
  // Tokens that open an account go into mails, and nowhere else.
  "/nodeloom.identity.v1.AddressService/CreateMailedReset": ["executions"],
  "/nodeloom.identity.v1.AddressService/CreateVerification": ["executions"],
};
