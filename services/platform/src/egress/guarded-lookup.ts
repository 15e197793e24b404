import type { LookupAddress } from "node:dns";
import { isHostAddress, isPublicAddress, NO_HOST_ADDRESS, NOT_ONLY_PUBLIC, egressRefusal, type Lookup } from "./address";

export interface AddressCheck {
  isAllowed: (address: string) => boolean;
  problem: string;
}
export const PUBLIC: AddressCheck = { isAllowed: isPublicAddress, problem: NOT_ONLY_PUBLIC };
export const HOSTS: AddressCheck = { isAllowed: isHostAddress, problem: NO_HOST_ADDRESS };
export const ANY: AddressCheck = { isAllowed: () => true, problem: "its name has no address" };

/** Resolves names for the socket, so that the checked address is also the connected one. */
export const guardedLookup =
  (resolve: Lookup, { isAllowed, problem }: AddressCheck) =>
  (
    host: string,
    options: object,
    callback: (error: NodeJS.ErrnoException | null, address: string | LookupAddress[], family?: number) => void,
  ): void => {
    resolve(host, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, []);
      if (addresses.length === 0 || addresses.some(({ address }) => !isAllowed(address))) return callback(egressRefusal(problem, host), []);
      if ((options as { all?: boolean }).all) return callback(null, addresses);
      return callback(null, addresses[0]!.address, addresses[0]!.family);
    });
  };
