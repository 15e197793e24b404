import { unary } from "@nodeloom/platform";
import { signIn } from "@nodeloom/proto";
import type { Oidc } from "../oidc/oidc";
import { toUserMessage } from "./messages";
import type { PendingSignIns } from "../sign-in/pending-sign-ins";
import type { SecondFactors } from "../second-factor/second-factors";

type Server = signIn.SignInServiceServer;

export interface SignInServices {
  pendingSignIns: PendingSignIns;
  secondFactors: SecondFactors;
  oidc: Oidc;
}

type OidcMethods = "getSignInMethods" | "startOidc" | "finishOidc" | "getOidc" | "unlinkOidc" | "resetOidc";

const oidcHandlers = ({ oidc }: SignInServices): Pick<Server, OidcMethods> => ({
  getSignInMethods: unary((_request: signIn.GetSignInMethodsRequest) =>
    Promise.resolve(signIn.GetSignInMethodsResponse.fromPartial({ oidcName: oidc.name ?? "" })),
  ),
  startOidc: unary(async ({ link, ...start }: signIn.StartOidcRequest) =>
    signIn.StartOidcResponse.fromPartial(link ? await oidc.startLink({ ...start, ...link }) : await oidc.start(start)),
  ),
  finishOidc: unary(async (back: signIn.FinishOidcRequest) => {
    const { returnTo, account, pending, linkedUserId } = await oidc.finish(back);
    const changed = account ? { user: toUserMessage(account.after), before: toUserMessage(account.before) } : {};
    return signIn.FinishOidcResponse.fromPartial({ returnTo, pending, linkedUserId, ...changed });
  }),
  getOidc: unary(async ({ userId }: signIn.GetOidcRequest) => signIn.GetOidcResponse.fromPartial(await oidc.state(userId))),
  unlinkOidc: unary(async (by: signIn.UnlinkOidcRequest) => {
    await oidc.unlink(by);
    return signIn.UnlinkOidcResponse.fromPartial({});
  }),
  resetOidc: unary(async ({ userId }: signIn.ResetOidcRequest) =>
    signIn.ResetOidcResponse.fromPartial({ removed: await oidc.reset(userId) }),
  ),
});

type SecondFactorMethods =
  "completeLogin" | "getSecondFactor" | "enrolSecondFactor" | "confirmSecondFactor" | "removeSecondFactor" | "resetSecondFactor";

const secondFactorHandlers = ({ pendingSignIns, secondFactors }: SignInServices): Pick<Server, SecondFactorMethods> => ({
  completeLogin: unary(async (step: signIn.CompleteLoginRequest) =>
    signIn.CompleteLoginResponse.fromPartial({ user: toUserMessage(await pendingSignIns.complete(step)) }),
  ),
  getSecondFactor: unary(async ({ userId }: signIn.GetSecondFactorRequest) =>
    signIn.GetSecondFactorResponse.fromPartial(await secondFactors.state(userId)),
  ),
  enrolSecondFactor: unary(async (request: signIn.EnrolSecondFactorRequest) =>
    signIn.EnrolSecondFactorResponse.fromPartial(await secondFactors.enrol(request)),
  ),
  confirmSecondFactor: unary(async ({ userId, code }: signIn.ConfirmSecondFactorRequest) => {
    const { user, recoveryCodes } = await secondFactors.confirm(userId, code);
    return signIn.ConfirmSecondFactorResponse.fromPartial({ user: toUserMessage(user), recoveryCodes });
  }),
  removeSecondFactor: unary(async (request: signIn.RemoveSecondFactorRequest) => {
    await secondFactors.remove(request);
    return signIn.RemoveSecondFactorResponse.fromPartial({});
  }),
  resetSecondFactor: unary(async ({ userId }: signIn.ResetSecondFactorRequest) =>
    signIn.ResetSecondFactorResponse.fromPartial({ removed: await secondFactors.reset(userId) }),
  ),
});

/** gRPC handlers for second factors and sign-in by a provider. */
export const signInHandlers = (services: SignInServices): Server => ({
  ...oidcHandlers(services),
  ...secondFactorHandlers(services),
});
