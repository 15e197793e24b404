import type { CredentialsAction, CredentialsSource, FileVerification } from "@nodeloom/client";
import type { ReactNode } from "react";
import { bytes, dateTime } from "../../ui/format";
import { Notice, type NoticeProps } from "../../ui/notice";
import { Facts } from "../../ui/page";
import { COMMON } from "../../messages/common";
import { FINDINGS } from "../../messages/verify";

type Credentials = NonNullable<FileVerification["credentials"]>;

const verdictOf = ({ whole, ours, selfMade }: Credentials): Pick<NoticeProps, "kind" | "title"> & { text: string } => {
  if (!whole) return { kind: "bad", title: FINDINGS.invalidSignature, text: FINDINGS.changedAfterSigning };
  if (!ours) return { kind: "info", title: FINDINGS.signedByAnotherIssuer, text: FINDINGS.unchangedForeign };
  const text = selfMade ? FINDINGS.unchangedSelfSigned : FINDINGS.unchanged;
  return { kind: "ok", title: FINDINGS.generatedAndSignedHere, text };
};

const ACTIONS: Readonly<Record<string, string>> = {
  "c2pa.created": COMMON.created,
  "c2pa.opened": FINDINGS.opened,
  "c2pa.edited": FINDINGS.edited,
  "c2pa.placed": FINDINGS.combined,
  "c2pa.edited.metadata": FINDINGS.marked,
};

const TYPES: Readonly<Record<string, string>> = {
  trainedAlgorithmicMedia: FINDINGS.generatedByAModel,
  compositeWithTrainedAlgorithmicMedia: FINDINGS.partlyGeneratedByAModel,
  algorithmicMedia: FINDINGS.generatedByAProgram,
};

const typeWords = (address: string): string => {
  const name = address.split("/").at(-1)!;
  return TYPES[name] ?? name;
};

const actionWords = ({ action, software }: CredentialsAction): string =>
  `${ACTIONS[action] ?? action}${software === null ? "" : FINDINGS.with(software)}`;

const sourceWords = ({ generator, actions, format }: CredentialsSource): string =>
  [
    format ?? COMMON.file,
    generator === null ? FINDINGS.withoutCredentials : FINDINGS.signedBy(generator),
    ...actions.map(actionWords),
  ].join(" · ");

const COMMON_NAME = /(?:^|, *)CN=([^,]+)/;
const ORGANIZATION = /(?:^|, *)O=([^,]+)/;

/** A certificate's name without its keys: "CN=Press desk, O=Example News" is "Press desk, Example News". */
const nameWords = (name: string): string =>
  [...new Set([COMMON_NAME, ORGANIZATION].flatMap((part) => part.exec(name)?.[1]?.trim() ?? []))].join(", ") || name;

const List = ({ lines }: { lines: readonly string[] }) => (
  <ul className="flex flex-col gap-1">
    {lines.map((line, index) => (
      <li key={index}>{line}</li>
    ))}
  </ul>
);

const rowsOf = ({ digitalSourceType, contentType, bytes: size, credentials }: FileVerification): [string, ReactNode][] => {
  const by = credentials?.signer;
  const rows: [string, ReactNode][] = [[COMMON.file, `${contentType}, ${bytes(size)}`]];
  if (digitalSourceType !== null) rows.push([FINDINGS.declaredSource, typeWords(digitalSourceType)]);
  if (credentials && credentials.actions.length > 0) rows.push([FINDINGS.history, <List lines={credentials.actions.map(actionWords)} />]);
  if (credentials && credentials.sources.length > 0) rows.push([FINDINGS.sources, <List lines={credentials.sources.map(sourceWords)} />]);
  if (by)
    rows.push(
      [FINDINGS.signer, nameWords(by.name)],
      [FINDINGS.issuedBy, nameWords(by.issuer)],
      [FINDINGS.expires, by.expiresAt === null ? "" : dateTime(by.expiresAt)],
    );
  if (credentials && credentials.problems.length > 0)
    rows.push([FINDINGS.problems, <List lines={credentials.problems.map((code) => FINDINGS.problem[code] ?? code)} />]);
  return rows;
};

const Verdict = ({ found: { credentials, supported } }: { found: FileVerification }) => {
  if (credentials) {
    const { text, ...verdict } = verdictOf(credentials);
    return <Notice {...verdict}>{text}</Notice>;
  }
  return (
    <Notice kind="warn" title={FINDINGS.noSignatureFound}>
      {supported ? FINDINGS.noCredentials : FINDINGS.readableTypes}
    </Notice>
  );
};

/** The result of a verification, in words. */
export const Findings = ({ found }: { found: FileVerification }) => (
  <>
    <Verdict found={found} />
    <Facts rows={rowsOf(found)} />
  </>
);
