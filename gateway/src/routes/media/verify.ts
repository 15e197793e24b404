import { LIMITS } from "@nodeloom/kernel";
import { verifyParts } from "@nodeloom/platform";
import type { media } from "@nodeloom/proto";
import { z } from "zod";
import { defineRoute } from "../../edge/route";
import { fileBody } from "../../http/body/kinds";
import { VERIFICATIONS_PER_MINUTE, VERIFY_MS } from "../../http/limits";
import { iso, timestamp } from "../../http/schemas";
import { atMost, withSentFile } from "./uploads";

const action = z
  .object({
    action: z.string().meta({ description: "As C2PA names it, such as `c2pa.created`" }),
    software: z.string().nullable().meta({ description: "The model or operation" }),
    digitalSourceType: z.string().nullable(),
  })
  .meta({ id: "CredentialsAction" });
const source = z
  .object({
    relationship: z
      .string()
      .meta({ description: "`parentOf`: the file was made from this one. `inputTo` and `componentOf`: this one was an input" }),
    format: z.string().nullable(),
    generator: z.string().nullable(),
    actions: z.array(action),
  })
  .meta({ id: "CredentialsSource" });
const signer = z
  .object({
    name: z.string(),
    issuer: z.string(),
    fingerprint: z.string().meta({ description: "SHA-256 of the certificate, in hexadecimal" }),
    expiresAt: timestamp.nullable(),
  })
  .meta({ id: "CredentialsSigner" });
const credentials = z
  .object({
    whole: z.boolean().meta({ description: "True if the signature matches the certificate and no byte that it covers has changed" }),
    ours: z.boolean().meta({ description: "True if it is whole and signed by a certificate of this installation" }),
    selfMade: z.boolean().meta({ description: "True if this installation made that certificate. Other validators don't trust it" }),
    problems: z.array(z.string()).meta({ description: "Status codes of C2PA, such as `assertion.dataHash.mismatch`" }),
    signer: signer.nullable(),
    generator: z.string().nullable().meta({ description: "The program that signed, in its own words" }),
    actions: z.array(action),
    sources: z
      .array(source)
      .meta({ description: "Manifests that this one names as sources, nearest first, at most 50. They aren't checked" }),
  })
  .meta({ id: "ContentCredentials" });
const verification = z
  .object({
    contentType: z.string(),
    bytes: z.number(),
    supported: z
      .boolean()
      .meta({ description: "Credentials in this format can be read: PNG, JPEG, WebP, AVIF, HEIF, MP4, MOV, M4A, MP3, WAV" }),
    digitalSourceType: z
      .string()
      .nullable()
      .meta({ description: "IPTC digital source type that the file's metadata states. Anyone can write or remove it" }),
    credentials: credentials.nullable().meta({ description: "Null: the file has none, or they can't be read in its format" }),
  })
  .meta({ id: "FileVerification" });

const actionView = ({ action: name, software, digitalSourceType }: media.CredentialsAction): z.infer<typeof action> => ({
  ...{ action: name, software: software || null, digitalSourceType: digitalSourceType || null },
});

const credentialsView = ({ signer: by, ...credentialsRecord }: media.Credentials): z.infer<typeof credentials> => ({
  ...{
    whole: credentialsRecord.whole,
    ours: credentialsRecord.ours,
    selfMade: credentialsRecord.selfMade,
    problems: credentialsRecord.problems,
  },
  signer: by ? { name: by.name, issuer: by.issuer, fingerprint: by.fingerprint, expiresAt: iso(by.expiresAt) } : null,
  generator: credentialsRecord.generator || null,
  actions: credentialsRecord.actions.map(actionView),
  sources: credentialsRecord.sources.map(({ relationship, format, generator, actions }) => ({
    ...{ relationship, format: format || null, generator: generator || null, actions: actions.map(actionView) },
  })),
});

export const verifyRoutes = [
  defineRoute({
    ...{ method: "POST", path: "/api/verify", operationId: "verifyFile", tag: "Media", auth: "none", role: "self" },
    limit: { ip: VERIFICATIONS_PER_MINUTE },
    summary: "Check the signed content credentials of a file",
    description:
      "Send the file, at most 32 MB, as the body or in a form. You need no account, and the file isn't stored. `ours` compares only the certificate, not what the file says about itself.",
    body: fileBody(LIMITS.verifiedBytes),
    responses: { 200: verification },
    errors: ["INVALID_REQUEST", "PAYLOAD_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE"],
    handler: ({ gateway, request }) =>
      withSentFile(request, LIMITS.verifiedBytes, async (file) => {
        const parts = verifyParts(atMost(file, LIMITS.verifiedBytes, LIMITS.verifiedBytes));
        const verified = await gateway.services.media.verify(parts, { deadlineMs: VERIFY_MS });
        const { contentType, bytes, supported, digitalSourceType, credentials: readCredentials } = verified;
        const body = { contentType, bytes, supported, digitalSourceType: digitalSourceType || null };
        return { status: 200, body: { ...body, credentials: readCredentials ? credentialsView(readCredentials) : null } };
      }),
  }),
];
