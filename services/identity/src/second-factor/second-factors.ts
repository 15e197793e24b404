/** The second factor of accounts with passwords. The user can enable and disable it; an administrator can disable it. */
import { randomUUID } from "node:crypto";
import { DomainError } from "@nodeloom/kernel";
import type { Changes } from "../changes";
import type { SecondFactorRecord, UserRecord } from "../records";
import type { Envelope } from "../secrets/envelope";
import { resealAll, type ResealReport } from "../secrets/reseal";
import type { LoginThrottle } from "../sessions/login-throttle";
import type { ByPassword, Reauthentication } from "../sessions/reauthentication";
import type { Tiers } from "../tiers/tiers";
import { hasPassword } from "../users/passwords";
import { hasSecondFactor, noSuchUser, toUser, type User } from "../users/user";
import type { UserStore } from "../users/user-store";
import { newRecoveryCodes, newSecret, recoveryHash, urlOf } from "./codes";
import { sealedFor, wrongCode, type CodeMatching } from "./matching";
import type { SecondFactorStore } from "./second-factor-store";

/** Time step before any code is accepted. */
const NO_STEP = 0;

export interface SecondFactorState {
  /** True if the service has encryption keys for secrets. */
  configured: boolean;
  /** Time at which the second factor was enabled; undefined if it is off. */
  onSince: Date | undefined;
  /** Number of unused recovery codes. */
  recoveryCodes: number;
  hasPassword: boolean;
}

export interface SecondFactors {
  state(userId: string): Promise<SecondFactorState>;
  /**
   * Creates a secret, in Base32 and as an `otpauth:` URL. It replaces an unconfirmed secret.
   * @throws NOT_CONFIGURED, UNAUTHENTICATED for a wrong password, PRECONDITION_FAILED if the second factor is on
   */
  enrol(by: ByPassword): Promise<{ secret: string; url: string }>;
  /**
   * Enables the second factor with an authenticator code and ends all sessions.
   * @throws UNAUTHENTICATED, PRECONDITION_FAILED without a secret
   */
  confirm(userId: string, code: string): Promise<{ user: User; recoveryCodes: string[] }>;
  /**
   * Disables the second factor.
   * @throws UNAUTHENTICATED for a wrong password or code, PRECONDITION_FAILED if it is off
   */
  remove(by: ByPassword & { code: string }): Promise<void>;
  /** Disables a user's second factor for an administrator, without password and code. @returns false if it was off */
  reset(userId: string): Promise<boolean>;
  /** Encrypts secrets again, as `resealAll` does. The result contains ids of users. */
  reseal(): Promise<ResealReport>;
}

export interface SecondFactorsOptions {
  store: SecondFactorStore;
  users: Pick<UserStore, "find">;
  tiers: Pick<Tiers, "planOf">;
  reauthentication: Reauthentication;
  matching: CodeMatching;
  /** Throttle for codes. */
  throttle: LoginThrottle;
  envelope: Envelope;
  changes: Changes;
  pepper: string;
  clock?: () => number;
}

const precondition = (message: string): DomainError => new DomainError("precondition", "PRECONDITION_FAILED", message);
const isOn = (): DomainError => precondition("the account has a second factor already: switch it off first");
const isOff = (): DomainError => precondition("the account has no second factor");

export const createSecondFactors = (options: SecondFactorsOptions): SecondFactors => {
  const { store, users, tiers, reauthentication, matching, throttle, envelope, changes, pepper, clock = Date.now } = options;

  const existing = async (userId: string): Promise<UserRecord> => {
    const user = await users.find(userId);
    if (!user) throw noSuchUser();
    return user;
  };
  const announce = (id: string): Promise<void> => changes.announce({ type: "user", id });

  return {
    state: async (userId) => {
      const user = await existing(userId);
      const factor = hasSecondFactor(user) ? user.secondFactor : undefined;
      const onSince = factor?.confirmedAt ?? undefined;
      const recoveryCodes = factor?.recoveryCodes.length ?? 0;
      return { configured: envelope.isConfigured, onSince, recoveryCodes, hasPassword: hasPassword(user) };
    },

    enrol: async (by) => {
      const [id, secret] = [randomUUID(), newSecret()];
      const sealed = envelope.seal(secret, sealedFor(by.userId, { id }));
      const user = await reauthentication.byPassword(by);
      const factor: SecondFactorRecord = { id, ...sealed, confirmedAt: null, lastStep: NO_STEP, recoveryCodes: [] };
      if (!(await store.begin(user._id, factor))) throw isOn();
      return { secret, url: urlOf(secret, user.email) };
    },

    confirm: async (userId, code) => {
      const { secondFactor } = await existing(userId);
      if (!secondFactor) throw precondition("there is no secret to confirm: begin again");
      if (secondFactor.confirmedAt) throw isOn();
      const lastStep = matching.stepOf(userId, secondFactor, code);
      if (lastStep === undefined) throw wrongCode();
      const recoveryCodes = newRecoveryCodes();
      const hashes = recoveryCodes.map((one) => recoveryHash(pepper, userId, one));
      const user = await store.confirm(userId, secondFactor.id, { at: new Date(clock()), lastStep, recoveryCodes: hashes });
      if (!user) throw precondition("another secret was made meanwhile: begin again");
      await announce(userId);
      return { user: toUser(user, await tiers.planOf(user.tier)), recoveryCodes };
    },

    remove: async (by) => {
      const user = await reauthentication.byPassword(by);
      if (!hasSecondFactor(user)) throw isOff();
      await throttle.attempt(user.email, by.address);
      const match = matching.match(user, by.code);
      if (!match || !(await match.use())) throw wrongCode();
      await throttle.succeeded(user.email, by.address);
      await store.remove(user._id, user.secondFactor?.id);
      await announce(user._id);
    },

    reset: async (userId) => {
      const wasOn = hasSecondFactor(await existing(userId));
      await store.remove(userId);
      await announce(userId);
      return wasOn;
    },

    reseal: () =>
      resealAll(envelope, {
        read: store.sealedOtherwise,
        idOf: ({ _id }) => _id,
        sealed: ({ _id, secondFactor }) => ({ ...secondFactor!, ...sealedFor(_id, secondFactor!) }),
        write: ({ _id, secondFactor }, sealed) => store.reseal(_id, secondFactor!.id, sealed),
      }),
  };
};
