// Answers to the one status call before a run: what each says of the target, and what to do next.
import { expect, test } from "vitest";
import { answerProblem } from "../../src/load/preflight.ts";
import type { Token } from "../../src/rules/tokens.ts";

const ann: Token = { token: "t", user: "ann", organization: "acme", scopes: ["read_accounts"] };
const problem = (status: number, body = "", headers: Record<string, string> = {}, token = ann) =>
  answerProblem({ status, body, headers }, token);
const html = (status: number) => ({
  got: `${status} and HTML`,
  hint: "is this the API's address, or a website's or proxy's?",
});

test.each([200, 429, 500])("a status of %d is one where its body has scopes", (status) => {
  expect(problem(status, '{"scopes": {"rest": {}}}')).toBeNull();
});

test("a refusal is left to the run, and so is a token that may not read the status", () => {
  expect(problem(429, "later")).toBeNull();
  expect(problem(403, "", {}, { ...ann, scopes: [] })).toBeNull();
});

test("a redirect is not followed", () => {
  expect(problem(301, "", { location: "https://a.example/x?key=1" })).toEqual({
    got: '301, a redirect to "https://a.example/x"',
    hint: "name the address that it leads to: redirects are not followed",
  });
});

test("a token that is not taken", () => {
  expect(problem(401)).toEqual({
    got: "401: the token of ann is not known there",
    hint: "is this the tokens file of this target?",
  });
  expect(problem(403)).toEqual({
    got: "403: the token of ann may not read the status",
    hint: "its tokens need the scope read_accounts",
  });
});

test("a page in place of an API", () => {
  expect(problem(200, "hello", { "content-type": "text/HTML; charset=utf-8" })).toEqual(html(200));
  expect(problem(404, "  <p>")).toEqual(html(404));
});

test("another API", () => {
  expect(problem(404, "{}")).toEqual({
    got: '404: no organization "acme" there, or the token of ann is not of it',
    hint: "is this the tokens file of this target, and its API's address?",
  });
  const other = (got: string) => ({ got, hint: "is this the API's address?" });
  expect(problem(200, "{}")).toEqual(other('200 and "{}"'));
  expect(problem(500, '{"scopes": {"rest": 1}}')).toEqual(other('500 and "{\\"scopes\\": {\\"rest\\": 1}}"'));
  expect(problem(200, "not json")).toEqual(other('200 and "not json"'));
  expect(problem(200, "x".repeat(61))).toEqual(other(`200 and "${"x".repeat(56)}...`));
});
