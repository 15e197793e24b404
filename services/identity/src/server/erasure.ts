import { invalidRequest } from "@nodeloom/kernel";
import { unary } from "@nodeloom/platform";
import { accountErasure as proto } from "@nodeloom/proto";
import { toUserMessage } from "./messages";
import type { ErasureProof, Erasures } from "../erasure/erasures";

const proofOf = ({ proof, address }: proto.RequestErasureRequest): ErasureProof => {
  if (proof?.$case === "password") return { password: proof.value, address };
  if (proof?.$case === "recentSignIn" && proof.value) return "recent sign-in";
  if (proof?.$case === "byAdministrator" && proof.value) return "administrator";
  throw invalidRequest([{ path: "proof", message: "is required" }]);
};

export const accountErasureHandlers = (erasures: Erasures): proto.AccountErasureServiceServer => ({
  requestErasure: unary(async (request) =>
    proto.RequestErasureResponse.fromPartial({ user: toUserMessage(await erasures.request(request, proofOf(request))) }),
  ),
  withdrawErasure: unary(async (request) =>
    proto.WithdrawErasureResponse.fromPartial({ user: toUserMessage(await erasures.withdraw(request)) }),
  ),
  listErasures: unary(async () => proto.ListErasuresResponse.fromPartial({ erasures: await erasures.due() })),
  beginErasure: unary(async ({ userId }) => {
    await erasures.begin(userId);
    return {};
  }),
  endErasure: unary(async ({ userId }) => {
    await erasures.end(userId);
    return {};
  }),
  forgetErased: unary(async ({ userId }) => {
    await erasures.forget(userId);
    return {};
  }),
});
