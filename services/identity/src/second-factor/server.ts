import { unary } from "@nodeloom/platform";
import { signIn } from "@nodeloom/proto";
import { toUserMessage } from "../messages";
import type { PendingSignIns } from "./pending-sign-ins";
import type { SecondFactors } from "./second-factors";

type Server = signIn.SignInServiceServer;

export interface SignInServices {
  pendingSignIns: PendingSignIns;
  secondFactors: SecondFactors;
}

/** The gRPC handlers of what follows a password. */
export const signInHandlers = ({ pendingSignIns, secondFactors }: SignInServices): Server => ({
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
