// An OpenID Connect provider for tests (oidc-provider), in a separate process because it has no CommonJS. Prints its address. `PUT /person`
// sets the signed-in person and the deviations of their ID tokens: {sub, claims, token?, otherKey?}.
import { createServer } from "node:http";
import { decodeJwt, decodeProtectedHeader, exportJWK, generateKeyPair, SignJWT } from "jose";
import Provider from "oidc-provider";

const ALGORITHM = "RS256";
const [right, wrong] = await Promise.all([0, 1].map(() => generateKeyPair(ALGORITHM, { extractable: true })));

/** @type {{ sub: string, claims: Record<string, unknown>, token?: Record<string, unknown>, otherKey?: boolean }} */
let person = { sub: "nobody", claims: {} };

/** @param {string} token */
const altered = async (token) => {
  const { alg = ALGORITHM, kid } = decodeProtectedHeader(token);
  return new SignJWT({ ...decodeJwt(token), ...person.token })
    .setProtectedHeader({ alg, ...(kid === undefined ? {} : { kid }) })
    .sign((person.otherKey ? wrong : right).privateKey);
};

/** @param {import("node:http").IncomingMessage} request */
const readPerson = async (request) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  person = JSON.parse(Buffer.concat(chunks).toString("utf8"));
};

const server = createServer();
await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
const issuer = `http://127.0.0.1:${port}`;

const provider = new Provider(issuer, {
  clients: [{ client_id: "nodeloom", client_secret: "a secret of the client", redirect_uris: ["http://127.0.0.1/"] }],
  claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["groups"] },
  cookies: { keys: ["a key for cookies"] },
  jwks: { keys: [{ ...(await exportJWK(right.privateKey)), alg: ALGORITHM, use: "sig", kid: "right" }] },
  pkce: { required: () => true },
  features: { devInteractions: { enabled: false } },
  findAccount: (_context, accountId) => ({ accountId, claims: () => Promise.resolve({ ...person.claims, sub: accountId }) }),
  interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
  // The provider doesn't ask for consent.
  loadExistingGrant: async ({ oidc }) => {
    const grant = new oidc.provider.Grant({ clientId: oidc.client?.clientId, accountId: oidc.session?.accountId });
    grant.addOIDCScope("openid email profile");
    await grant.save();
    return grant;
  },
});
// Allows every redirect, because the client's port isn't known when the provider starts.
provider.Client.prototype.redirectUriAllowed = () => true;

provider.use(async (context, next) => {
  if (context.path.startsWith("/interaction/")) {
    context.respond = false;
    return provider.interactionFinished(context.req, context.res, { login: { accountId: person.sub } }, { mergeWithLastSubmission: false });
  }
  await next();
  const body = /** @type {{ id_token?: string } | undefined} */ (context.body);
  if (context.path === "/token" && body?.id_token && (person.token || person.otherKey)) body.id_token = await altered(body.id_token);
  return undefined;
});

const answer = provider.callback();
server.on("request", (request, response) => {
  if (request.method !== "PUT" || request.url !== "/person") return answer(request, response);
  return readPerson(request).then(() => response.writeHead(204).end());
});
process.stdout.write(`${issuer}\n`);
