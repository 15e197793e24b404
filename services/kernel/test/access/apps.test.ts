import { isOrigin } from "../../src/access/apps";

it.each(["https://example.com", "http://localhost:5173", "https://xn--bcher-kva.example", "https://a_b.example", "http://[::1]:8080"])(
  "accepts %s as the origin of an app",
  (origin) => expect(isOrigin(origin)).toBe(true),
);

it.each([
  ...["https://*", "https://*.example.com", "https://*:8443", "https://a;b", "https://a,b", "https://~", "https://a..b", "https://."],
  ...["https://example.com/", "https://example.com/page", "ftp://example.com", "https://a@example.com", "null", "*", ""],
])("rejects %j as the origin of an app, because it would match others", (origin) => expect(isOrigin(origin)).toBe(false));
