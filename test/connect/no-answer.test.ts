// The reason why a call has no answer: a short name for traces, and words for people.
import { expect, test } from "vitest";
import { hintFor, inWords, NoAnswer, reasonOf, redirectOf } from "../../src/connect/no-answer.ts";

const failed = (code: string, message = "it failed", name = "Error"): NodeJS.ErrnoException =>
  Object.assign(new Error(message), { code, name });

test.each([
  [["ECONNREFUSED"], "refused", "connection refused"],
  [["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"], "reset", "the connection was closed without an answer"],
  [["ENOTFOUND", "EAI_AGAIN"], "unknown host", "no such host"],
  [["EHOSTUNREACH", "ENETUNREACH"], "unreachable", "no route to the host"],
  [["ETIMEDOUT", "UND_ERR_CONNECT_TIMEOUT"], "timeout", "no answer in time"],
  [
    ["DEPTH_ZERO_SELF_SIGNED_CERT", "SELF_SIGNED_CERT_IN_CHAIN"],
    "untrusted",
    "a certificate that nobody known here vouches for",
  ],
  [["EPROTO", "ERR_SSL_WRONG_VERSION_NUMBER"], "no tls", "no TLS there (is it http://?)"],
])("%j: %s", (codes, reason, words) => {
  for (const code of codes) expect(reasonOf(failed(code))).toBe(reason);
  expect(inWords(reason)).toBe(words);
  const error = new NoAnswer(reason);
  expect([error.name, error.reason, error.message]).toEqual(["NoAnswer", reason, words]);
});

test("what speaks no HTTP is told by its parser", () => {
  expect(reasonOf(failed("ECONNRESET", "Expected HTTP/", "HTTPParserError"))).toBe("no http");
  expect(inWords("no http")).toBe("something that is no HTTP");
});

test("any other reason is the error's message, as much as a line holds; without one, its code", () => {
  expect(reasonOf(failed("EOTHER", "x".repeat(300)))).toBe("x".repeat(200));
  expect(reasonOf(failed("EOTHER", ""))).toBe("EOTHER");
  expect(inWords("it failed")).toBe("it failed");
  const cause = new Error("within");
  const error = new NoAnswer("EOTHER", "words", cause);
  expect([error.message, error.cause]).toEqual(["words", cause]);
});

test("the next step is to trust a certificate, or to look whether the target runs", () => {
  expect(hintFor("untrusted")).toContain("--ca FILE");
  expect([hintFor("refused"), hintFor(null)]).toEqual(
    Array(2).fill("is it running, and is this its address?"),
  );
});

test.each([
  [299, null],
  [300, '300, a redirect to "/a"'],
  [304, null],
  [399, '399, a redirect to "/a"'],
  [400, null],
])("%d: %s", (status, got) => {
  expect(redirectOf(status, "/a?token=sesame#b")?.got ?? null).toBe(got);
});

test("a redirect says where it leads, without what may be secret; or nowhere", () => {
  expect(redirectOf(302, "https://a.example/b#token=sesame")?.got).toBe(
    '302, a redirect to "https://a.example/b"',
  );
  expect([redirectOf(302, null)?.got, redirectOf(302, undefined)?.got]).toEqual(
    Array(2).fill('302, a redirect to "nowhere"'),
  );
});
