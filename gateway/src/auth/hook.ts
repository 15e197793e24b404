/** Addresses of hooks are secrets: any sender who knows one can start its runs. */
import { createHash, randomBytes } from "node:crypto";
import type { Request } from "express";
import type { Services } from "../clients/services";
import { notFound, unauthenticated } from "../http/errors";
import { ADMIN, toCallerUser, type Caller } from "./caller";

export const HOOK_PATH = "/hooks/";
const PREFIX = "nlh_";
const SECRET_BYTES = 32;
const SECRET = /^nlh_[\w-]{43}$/;
const SHOWN_CHARS = 8;

const hashOf = (secret: string): string => createHash("sha256").update(secret).digest("hex");

/** A new secret, its stored hash, and the prefix that can be shown. */
export const newHookSecret = (): { secret: string; secretHash: string; start: string } => {
  const secret = `${PREFIX}${randomBytes(SECRET_BYTES).toString("base64url")}`;
  return { secret, secretHash: hashOf(secret), start: secret.slice(0, SHOWN_CHARS) };
};

/** Authenticates a request to a hook. @throws NOT_FOUND for any address that can't start a run, so that the response reveals nothing */
export const hookCaller = async (
  { services }: { services: Pick<Services, "triggers" | "identity"> },
  request: Request,
): Promise<Caller> => {
  const { secret } = request.params;
  if (typeof secret !== "string" || !SECRET.test(secret)) throw notFound("hook");
  const secretHash = hashOf(secret);
  const { hook, userId } = await services.triggers.findHook({ secretHash });
  const { user } = await services.identity.getUser({ userId });
  if (!hook || !user) throw unauthenticated();
  const account = toCallerUser(user);
  return {
    user: account,
    person: account,
    isAdmin: user.role === ADMIN,
    capabilities: [],
    key: null,
    hook: { secretHash, signatureHeader: hook.signatureHeader || null, deliveryIdHeader: hook.deliveryIdHeader || null },
  };
};
