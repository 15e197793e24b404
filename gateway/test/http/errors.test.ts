import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DomainError, REASONS } from "@nodeloom/kernel";
import { errorReply, HTTP_STATUS_BY_REASON } from "../../src/http/errors";

describe("errors as clients see them", () => {
  it("have a page each", () => {
    const pages = readdirSync(join(__dirname, "..", "..", "..", "docs", "reference", "errors"));
    expect(pages.sort()).toEqual(REASONS.map((reason) => `${reason}.md`).sort());
  });

  it.each(REASONS)("%s has one HTTP status of its own class", (reason) => {
    expect(HTTP_STATUS_BY_REASON[reason]).toBeGreaterThanOrEqual(400);
    expect(HTTP_STATUS_BY_REASON[reason]).toBeLessThan(600);
  });

  it("has no status for an unknown reason", () => {
    expect(Object.keys(HTTP_STATUS_BY_REASON).sort()).toEqual([...REASONS].sort());
  });

  it("reveals nothing about an unexpected error", () => {
    const { status, body } = errorReply(new Error("MongoServerError: secret"));
    expect(status).toBe(500);
    expect(body).toEqual({ error: "internal error", code: "INTERNAL", doc: "/docs/reference/errors/INTERNAL" });
  });

  it("reveals nothing about an internal error of a service", () => {
    const { body } = errorReply(new DomainError("internal", "INTERNAL", "billing failed", { stack: "at x.ts" }));
    expect(body).toEqual({ error: "internal error", code: "INTERNAL", doc: "/docs/reference/errors/INTERNAL" });
  });

  it("gives a missing workflow no code", () => {
    expect(errorReply(new DomainError("not_found", "WORKFLOW_NOT_FOUND", "workflow not found", { slug: "x" }))).toMatchObject({
      status: 404,
      body: { error: "workflow not found" },
    });
  });

  it("have metadata beside error and code, never in place of them", () => {
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
