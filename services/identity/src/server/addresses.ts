import { unary } from "@nodeloom/platform";
import { addresses as messages } from "@nodeloom/proto";
import type { Addresses } from "../addresses/addresses";
import type { ListApprovers } from "../addresses/approvers";

export interface AddressServices {
  addresses: Addresses;
  listApprovers: ListApprovers;
}

export const addressHandlers = ({ addresses, listApprovers }: AddressServices): messages.AddressServiceServer => ({
  createMailedReset: unary(async ({ email }: messages.CreateMailedResetRequest) =>
    messages.CreateMailedResetResponse.fromPartial({ mailed: (await addresses.createReset(email)) ?? undefined }),
  ),
  createVerification: unary(async ({ userId }: messages.CreateVerificationRequest) =>
    messages.CreateVerificationResponse.fromPartial({ mailed: (await addresses.createVerification(userId)) ?? undefined }),
  ),
  verifyAddress: unary(async ({ userId, token }: messages.VerifyAddressRequest) => {
    await addresses.verify(userId, token);
    return messages.VerifyAddressResponse.fromPartial({});
  }),
  listOwners: unary(({ accountId }: messages.ListOwnersRequest) => addresses.owners(accountId)),
  listApprovers: unary((request: messages.ListApproversRequest) => listApprovers(request)),
  getAddress: unary(async ({ userId }: messages.GetAddressRequest) => {
    const { verifiedAt, ...state } = await addresses.get(userId);
    return messages.GetAddressResponse.fromPartial({ ...state, verifiedAt: verifiedAt ?? undefined });
  }),
  muteNotices: unary(async ({ userId, muted }: messages.MuteNoticesRequest) =>
    messages.MuteNoticesResponse.fromPartial({ mutedNotices: await addresses.mute(userId, muted) }),
  ),
  unsubscribe: unary(async ({ token }: messages.UnsubscribeRequest) =>
    messages.UnsubscribeResponse.fromPartial({ notice: await addresses.unsubscribe(token) }),
  ),
});
