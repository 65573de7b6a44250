// Experiments on GraphQL: queries that are unreadable, of another schema, too deep, too dear or free; two operations in
// a request, several in a batch, and a query in the URL (SPEC.md §2.6, §6).
import { isPlainObject } from "../../rules/plain-object.ts";
import { isRejected, judgeCharges } from "../charges.ts";
import type { Experiment } from "../experiment.ts";
import type { Lab } from "../lab.ts";
import { isRefused, kept, type Shot, unexercised } from "../step.ts";
import { trial } from "../trials.ts";

interface Query {
  readonly query: string;
  readonly variables?: unknown;
}

interface Variant {
  readonly name: string;
  readonly promise: string;
  make(plain: Shot, sample: Query, lab: Lab): Shot | null;
  /** True if errors are the only right answer. */
  readonly isRejected?: true;
}

/** Depth of a query, levels. GraphQL servers that bound the depth allow fewer. */
const levels = 260;
/** Cost of a query that no server should execute, units. */
const dearest = 1_000_000;

const posting = (plain: Shot, body: unknown, more: Partial<Shot> = {}): Shot => ({
  ...plain,
  ...more,
  body: JSON.stringify(body),
});
/** The server decides the cost. */
const free = { cost: null, isVague: true } as const;

const variants: readonly Variant[] = [
  {
    name: "query-that-cannot-be-read",
    promise: "a query that is no GraphQL is charged nothing, or once",
    isRejected: true,
    make: (plain) => posting(plain, { query: "{" }, free),
  },
  {
    name: "query-of-another-schema",
    promise: "a query of fields that do not exist is charged nothing, or once",
    isRejected: true,
    make: (plain) => posting(plain, { query: "{ spillwayHasNoSuchField }" }, free),
  },
  {
    name: "query-too-deep",
    promise: "a query that is too deep is charged nothing, or once",
    isRejected: true,
    make(plain) {
      const inner = `${"ofType{".repeat(levels)}name${"}".repeat(levels)}`;
      return posting(plain, { query: `{__type(name:"Query"){fields{type{${inner}}}}}` }, free);
    },
  },
  {
    name: "query-too-complex",
    promise: "a query that is too complex is refused or rejected, and charged nothing, or once",
    isRejected: true,
    make(plain, _sample, lab) {
      const { caller, operation } = plain;
      if (caller === null || lab.dearest(operation) === null) return null;
      return { ...lab.shot(caller, operation, dearest), isVague: true };
    },
  },
  {
    name: "query-of-no-cost",
    promise: "a query that asks for nothing is charged nothing, or once",
    make: (plain) => posting(plain, { query: "{ __typename }" }, free),
  },
  {
    name: "two-operations-in-one-request",
    promise: "of two operations in one request, the one that is named is charged",
    make(plain, { query, variables }) {
      const named = query.trimStart().replace(/^(?:query\b\s*\w*)?/, "query SpillwayOne ");
      const text = `${named} query SpillwayTwo { __typename }`;
      return posting(plain, { query: text, variables, operationName: "SpillwayOne" });
    },
  },
  {
    name: "batch-of-queries",
    promise: "each query of a batch is charged, or none",
    make: (plain, sample) =>
      posting(plain, [sample, sample], {
        parts: 2,
        isVague: true,
        cost: plain.cost === null ? null : 2 * plain.cost,
      }),
  },
  {
    name: "query-by-get",
    promise: "a query in the URL is charged as one in a body",
    make(plain, { query, variables }) {
      const words = new URLSearchParams({ query });
      if (variables !== undefined) words.set("variables", JSON.stringify(variables));
      const join = plain.path.includes("?") ? "&" : "?";
      return { ...plain, method: "GET", path: `${plain.path}${join}${words}`, body: null, headers: {} };
    },
  },
];

/** Returns the query of a plain call; `null` if it has none. */
function queryOf({ body, method }: Shot): Query | null {
  if (body === null || method !== "POST") return null;
  try {
    const parsed: unknown = JSON.parse(body);
    return isPlainObject(parsed) && typeof parsed["query"] === "string" ? (parsed as unknown as Query) : null;
  } catch {
    return null;
  }
}

const experimentOf = ({ name, promise, make, isRejected: mustFail }: Variant): Experiment => ({
  name,
  law: "conserved",
  section: "SPEC.md §6",
  promise,
  needs: "a sample of GraphQL",
  calls: 6,
  lacks(lab, subject) {
    const [caller] = subject.callers;
    const plain = lab.shot(caller, subject.operation);
    const query = queryOf(plain);
    if (query === null) return "the sample is no GraphQL";
    if (make(plain, query, lab) === null) return "no sample that can be made dearer";
    return lab.windows(subject, caller).length > 0 ? null : "answers show no count of a window";
  },
  *run(lab, subject) {
    const caller = yield* lab.pick(subject, 8, 700);
    const plain = lab.shot(caller, subject.operation);
    const query = queryOf(plain);
    const shot = query === null ? null : make(plain, query, lab);
    if (shot === null) return unexercised("the sample is no GraphQL");
    const made = yield* trial(lab, subject, caller, [shot]);
    const [answer] = made.answers;
    if (answer === undefined || answer.call.status === 0) return unexercised("the call had no answer");
    const isExecuted = answer.call.status < 400 && !isRejected(answer.body) && !isRefused(answer);
    if (mustFail === true && isExecuted) return unexercised("such a query is executed");
    return judgeCharges(made) ?? kept;
  },
});

export const queryExperiments: readonly Experiment[] = variants.map(experimentOf);
