import type { PeerCertificate } from "node:tls";
import { ServerInterceptingCall, status, type ServerInterceptor } from "@grpc/grpc-js";

const namesIn = ({ subject, subjectaltname }: PeerCertificate): string[] => {
  const alternatives = (subjectaltname ?? "").split(", ").flatMap((entry) => (entry.startsWith("DNS:") ? [entry.slice(4)] : []));
  return typeof subject?.CN === "string" ? [...alternatives, subject.CN] : alternatives;
};

/** Refuses, with PERMISSION_DENIED, every call whose certificate was made for none of these names. */
export const allowCallers = (allowed: readonly string[]): ServerInterceptor => {
  const isAllowed = (certificate: PeerCertificate): boolean => namesIn(certificate).some((name) => allowed.includes(name));
  return (_method, call) => {
    const certificate = call.getAuthContext().sslPeerCertificate;
    if (certificate !== undefined && isAllowed(certificate)) return new ServerInterceptingCall(call);
    return new ServerInterceptingCall(call, {
      start: (next) => {
        next();
        call.sendStatus({ code: status.PERMISSION_DENIED, details: "this caller is not allowed here" });
      },
    });
  };
};
