/** Callers of restricted methods, by method path. Not all callers of a service can call these methods. */
export const METHOD_CALLERS: Readonly<Record<string, readonly string[]>> = {
  "/nodeloom.identity.v1.IdentityService/ReadSecrets": ["executions", "models"],
  "/nodeloom.media.v1.MediaService/DecideHeld": ["executions"],
  "/nodeloom.identity.v1.AccountErasureService/BeginErasure": ["executions"],
  "/nodeloom.identity.v1.AccountErasureService/EndErasure": ["executions"],
  "/nodeloom.identity.v1.AccountErasureService/ForgetErased": ["executions"],
  "/nodeloom.erasure.v1.ErasureService/Erase": ["executions"],
  // These tokens give access to an account, so they can be sent only in emails.
  "/nodeloom.identity.v1.AddressService/CreateMailedReset": ["notifications", "executions"],
  "/nodeloom.identity.v1.AddressService/CreateVerification": ["notifications", "executions"],
};
