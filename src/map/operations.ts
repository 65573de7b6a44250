// Requests → operations, by the quotas that their answers show, with routes, costs and samples.
import type { PolicyInput } from "../policy/schema.ts";
import { usesMost } from "../policy/schema.ts";
import { leastOf, mostOf } from "../rules/extremes.ts";
import { counted } from "../rules/words.ts";
import { isRefusal } from "../wire/outcome.ts";
import type { AnswerReading } from "../wire/read-answer.ts";
import { isAboutLimits, type PathShape, pathsTo, samplePath, shapeOf } from "./paths.ts";
import type { MapQuestion } from "./question.ts";
import type { SeenAnswers } from "./seen.ts";

type Parts = Pick<PolicyInput, "operations" | "routes">;
type Readings = readonly (readonly AnswerReading[])[];
type Answered = readonly (readonly [SeenAnswers, readonly AnswerReading[]])[];

const namesOf = (readings: readonly AnswerReading[], quotas: readonly string[]): string[] => [
  ...new Set(readings.map(({ quota }) => (quota !== null && quotas.includes(quota) ? quota : "requests"))),
];

/** Makes operations and routes. @param quotas names of all quotas */
export function operationsOf(
  seen: readonly SeenAnswers[],
  secrets: ReadonlySet<string>,
  readings: Readings,
  quotas: readonly string[],
  questions: MapQuestion[],
): Parts {
  const groups = new Map<string, [SeenAnswers, readonly AnswerReading[]][]>();
  for (const [index, each] of seen.entries()) {
    const shown = readings[index] ?? [];
    const key = isAboutLimits(each) ? "status" : namesOf(shown, quotas).slice(0, usesMost).join(" ");
    const group = groups.get(key) ?? [];
    group.push([each, shown]);
    groups.set(key, group);
  }
  const used = [...groups].filter(([key]) => key !== "status" && key !== "");
  if (used.length === 0) used.push([quotas.slice(0, usesMost).join(" ") || "requests", groups.get("") ?? []]);
  const [common] = used.toSorted((one, other) => other[1].length - one[1].length);
  const operations: Parts["operations"] = {};
  const routes: NonNullable<Parts["routes"]> = [];
  const shapes = (answered: Answered): PathShape[] =>
    answered.flatMap(([{ segments }]) => (segments === null ? [] : [shapeOf(segments, secrets)]));
  const lead = (answered: Answered, operation: string): void => {
    if (shapes(answered).length === 0)
      questions.push({
        path: "routes",
        seen: `No request of ${operation} was seen, so that no route leads to it.`,
        settle: "Give output of curl -v, or a HAR: both show requests. Or write its route.",
      });
    const others = [...groups.values()].filter((each) => each !== answered).flatMap(shapes);
    const paths = pathsTo(shapes(answered), others);
    if (paths === null)
      questions.push({
        path: "routes",
        seen: `A path of ${operation} has answers of another operation, too; it gets no route of its own.`,
        settle: "Look at the methods and queries of these calls, and write their routes.",
      });
    for (const path of paths ?? []) routes.push({ path, operation });
  };
  const status = groups.get("status");
  if (status !== undefined) {
    lead(status, "status");
    questions.push({
      path: "routes",
      seen: "A path names limits: it is taken to be a free status.",
      settle: "Call it twice, and see whether remaining falls by it.",
    });
  }
  for (const entry of used) {
    const [key, answered] = entry;
    const names = key.split(" ");
    const calls = answered.map(([each]) => each);
    const name = nameOf(names, calls, used.length === 1, operations);
    const path = samplePath(calls, secrets);
    const isGraphql = calls.some(({ graphql }) => graphql !== null);
    operations[name] = {
      uses: Object.fromEntries(names.map((quota) => [quota, costOf(quota, name, answered, questions)])),
      ...(isGraphql
        ? { samples: [{ method: "POST", path: "/graphql", body: { query: "{ __typename }" } }] }
        : path === null
          ? {}
          : { samples: [{ path }] }),
    };
    if (!isGraphql && path === null)
      questions.push({
        path: `operations.${name}.samples`,
        seen: "No request was seen that could be made again as it is.",
        settle: "Name a path that can be called without effect.",
      });
    if (entry !== common) lead(answered, name);
    else routes.unshift({ path: "/**", operation: name });
  }
  const [rest, ...others] = routes.toSorted((one, other) => depthOf(one.path) - depthOf(other.path));
  return { operations, routes: [...others.toReversed(), ...(rest === undefined ? [] : [rest])] };
}

const depthOf = (path: string): number => path.split("/").length;

/** @param known operations that have their names already */
function nameOf(
  quotas: readonly string[],
  calls: readonly SeenAnswers[],
  isOnly: boolean,
  known: Parts["operations"],
): string {
  if (isOnly) return "call";
  const [kind, ...others] = new Set(calls.map(({ graphql }) => graphql));
  if (typeof kind === "string" && others.length === 0 && !Object.hasOwn(known, kind)) return kind;
  return `${quotas.join("_and_")}_call`;
}

/** Returns the cost of a call in a quota: the usual fall of `remaining` from one answer to the next. */
function costOf(quota: string, operation: string, answered: Answered, questions: MapQuestion[]): number {
  const left = new Map<string, number>();
  const falls: number[] = [];
  for (const [{ caller, status }, shown] of answered.toSorted(
    (one, other) => (one[0].atMs ?? 0) - (other[0].atMs ?? 0),
  )) {
    const remaining = shown.find((each) => each.quota === quota)?.remaining ?? null;
    if (remaining === null) continue;
    const before = left.get(caller);
    left.set(caller, remaining);
    // Before a refusal, somebody used up what was left.
    if (before !== undefined && remaining < before && !isRefusal(status)) falls.push(before - remaining);
  }
  const least = leastOf(falls);
  if (falls.length === 0 || falls.every((fall) => fall === 1)) return 1;
  const isSteady = falls.every((fall) => fall === least);
  questions.push({
    path: `operations.${operation}.uses.${quota}`,
    seen: isSteady
      ? `Remaining fell by ${least} from answer to answer, ${counted(falls.length, "time")}.`
      : `Remaining fell by ${least} to ${mostOf(falls)} from answer to answer; the least is taken for a call's cost.`,
    settle: "Call twice in a row while nobody else does: the fall is the cost.",
  });
  return least;
}
