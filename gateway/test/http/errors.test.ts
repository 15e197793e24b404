import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DomainError, REASONS } from "@nodeloom/kernel";
import { ERRORS, WITHOUT_CODE } from "../../src/http/error-table";
import { errorReply, HTTP_STATUS_BY_REASON } from "../../src/http/errors";

const DOCS = join(__dirname, "..", "..", "..", "docs");

describe("errors as clients see them", () => {
  it("are those of the guide, and each has its page (otherwise: npm run generate)", () => {
    const input = JSON.stringify({ errors: ERRORS, withoutCode: [...WITHOUT_CODE] });
    const written = execFileSync(process.execPath, [join(DOCS, "reference", "errors.mjs"), "-"], { input }).toString();
    const pages = Object.entries(JSON.parse(written) as Record<string, string>);
    expect(pages).toHaveLength(REASONS.length + 1);
    for (const [path, text] of pages) expect([path, readFileSync(join(DOCS, path), "utf8")]).toEqual([path, text]);
    expect(readdirSync(join(DOCS, "reference", "errors"))).toHaveLength(REASONS.length);
  });

  it.each(REASONS)("%s has one HTTP status of its own class", (reason) => {
    expect(HTTP_STATUS_BY_REASON[reason]).toBeGreaterThanOrEqual(400);
    expect(HTTP_STATUS_BY_REASON[reason]).toBeLessThan(600);
  });

  it("has no status for what is no reason", () => {
    expect(Object.keys(HTTP_STATUS_BY_REASON).sort()).toEqual([...REASONS].sort());
  });

  it("tells nothing of an unforeseen error", () => {
    const { status, body } = errorReply(new Error("MongoServerError: secret"));
    expect(status).toBe(500);
    expect(body).toEqual({ error: "internal error", code: "INTERNAL", doc: "/docs/reference/errors/INTERNAL" });
  });

  it("tells nothing of an internal error of a service", () => {
    const { body } = errorReply(new DomainError("internal", "INTERNAL", "billing failed", { stack: "at x.ts" }));
    expect(body).toEqual({ error: "internal error", code: "INTERNAL", doc: "/docs/reference/errors/INTERNAL" });
  });

  it("gives a missing workflow no code", () => {
    expect(errorReply(new DomainError("not_found", "WORKFLOW_NOT_FOUND", "workflow not found", { slug: "x" }))).toMatchObject({
      status: 404,
      body: { error: "workflow not found" },
    });
  });

  it("carries metadata beside error and code, never over them", () => {
    const { body } = errorReply(
      new DomainError("forbidden", "CAPABILITY_DENIED", "denied", { required: "workflow:read", error: "x", code: "y" }),
    );
    expect(body).toEqual({
      error: "denied",
      code: "CAPABILITY_DENIED",
      doc: "/docs/reference/errors/CAPABILITY_DENIED",
      required: "workflow:read",
    });
  });

  it("turns a wait into Retry-After", () => {
    const { headers } = errorReply(new DomainError("unavailable", "SERVICE_UNAVAILABLE", "away", { retryAfter: 1.2 }));
    expect(headers["Retry-After"]).toBe("2");
  });
});
