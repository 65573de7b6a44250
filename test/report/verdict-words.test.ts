// Sentences of a verdict that are not of a law: quotas of other names, and questions with their scopes.
import { expect, test } from "vitest";
import { otherQuotaWords, questionWords } from "../../src/report/verdict-words.ts";
import type { Verdict } from "../../src/verify/verdict.ts";

const verdict = (members: Partial<Verdict>): Verdict => members as Verdict;

test("a quota of another name is said with its answers, its owner and its first line", () => {
  const of = (owner: "organization" | "user", name: string | null, answers: number) =>
    ({ name, owner, scope: "rest", answers, line: 14 }) as const;
  expect(otherQuotaWords(verdict({}))).toBe("");
  expect(
    otherQuotaWords(verdict({ otherQuotas: [of("organization", "search", 12), of("user", null, 1)] })),
  ).toBe(
    '12 answers of rest named the quota "search" for the organization\'s, which is not judged (first in line 14). ' +
      "1 answer of rest named further quotas of other names for the user's, which is not judged (first in line 14).",
  );
});

test("a question that is asked of both scopes is said once", () => {
  const asked = (question: string, scope: "rest" | "graphql") => ({ question, scope });
  const questions = [
    asked("Is it meant?", "rest"),
    asked("And that?", "graphql"),
    asked("Is it meant?", "graphql"),
  ];
  expect(questionWords(verdict({ questions } as never))).toEqual([
    "REST and GraphQL: Is it meant?",
    "GraphQL: And that?",
  ]);
  expect(questionWords(verdict({}))).toEqual([]);
});
