import type { PeerCertificate } from "node:tls";
import { ServerInterceptingCall, status, type ServerInterceptor } from "@grpc/grpc-js";
import { METHOD_CALLERS } from "./callers";

const namesIn = ({ subject, subjectaltname }: PeerCertificate): string[] => {
  const alternatives = (subjectaltname ?? "").split(", ").flatMap((entry) => (entry.startsWith("DNS:") ? [entry.slice(4)] : []));
  return typeof subject?.CN === "string" ? [...alternatives, subject.CN] : alternatives;
};

/** Rejects a call with PERMISSION_DENIED unless its certificate names an allowed service, or an allowed caller of the method. */
export const allowCallers = (allowed: readonly string[]): ServerInterceptor => {
  const isAllowed = (certificate: PeerCertificate, path: string): boolean =>
    namesIn(certificate).some((name) => (METHOD_CALLERS[path] ?? allowed).includes(name));
  return ({ path }, call) => {
    const certificate = call.getAuthContext().sslPeerCertificate;
    if (certificate !== undefined && isAllowed(certificate, path)) return new ServerInterceptingCall(call);
    return new ServerInterceptingCall(call, {
      start: (next) => {
        next();
        call.sendStatus({ code: status.PERMISSION_DENIED, details: "this caller is not allowed here" });
      },
    });
  };
};
