/** Methods that only some callers of their service can call, by their path. */
export const METHOD_CALLERS: Readonly<Record<string, readonly string[]>> = {
  "/nodeloom.identity.v1.IdentityService/ReadSecrets": ["executions", "models"],
  "/nodeloom.media.v1.MediaService/DecideHeld": ["executions"],
  "/nodeloom.identity.v1.AccountErasureService/BeginErasure": ["executions"],
  "/nodeloom.identity.v1.AccountErasureService/EndErasure": ["executions"],
  "/nodeloom.identity.v1.AccountErasureService/ForgetErased": ["executions"],
  "/nodeloom.erasure.v1.ErasureService/Erase": ["executions"],
  // Tokens that open an account go only into emails.
  "/nodeloom.identity.v1.AddressService/CreateMailedReset": ["notifications", "executions"],
  "/nodeloom.identity.v1.AddressService/CreateVerification": ["notifications", "executions"],
};
