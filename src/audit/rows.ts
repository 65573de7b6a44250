// Puts findings together: a row for each experiment, and one for the oracle's judgement of the trace.
import { credentialOf } from "../policy/match.ts";
import type { Policy } from "../policy/policy.ts";
import {
  agreementName,
  type Row,
  type ShownBroken,
  type ShownCall,
  type State,
} from "../summary/audit-result.ts";
import { type Agreement, oracleOn } from "./agreement.ts";
import type { Experiment } from "./experiment.ts";
import { costAsTold } from "./experiments/costs.ts";
import type { Task } from "./plan.ts";
import type { Answer, AuditFinding, Broken } from "./step.ts";

export interface FoundBroken {
  readonly task: Task;
  readonly finding: AuditFinding;
  readonly isRepeated: boolean;
}

interface Target {
  readonly target: string;
  readonly policy: Policy;
  /** The command that repeats the audit, without names of experiments. */
  readonly again: string;
  /** File of its trace. */
  readonly trace: string;
}

const callsMost = 12;

/** Laws whose breach explains why others look broken, too. */
const roots: readonly string[] = ["limit-agrees", "headers-present", "conserved", "reset-agrees"];

export function rowsOf(
  found: readonly FoundBroken[],
  experiments: readonly Experiment[],
  agreed: Agreement,
  target: Target,
): Row[] {
  const rows = experiments.map((experiment) =>
    rowOf(
      experiment,
      found.filter(({ task }) => task.experiment.name === experiment.name),
      agreed,
      target,
    ),
  );
  const first = rows.find(({ broken }) => broken.some(({ law }) => roots.includes(law)));
  const isFirstOfAll = first?.name === costAsTold.name;
  const pointing = rows.map((row) =>
    first === undefined || row === first
      ? row
      : {
          ...row,
          broken: row.broken.map((each) => ({
            ...each,
            follows: isFirstOfAll || each.law === first.law ? first.name : null,
          })),
        },
  );
  return [...pointing, agreementRow(agreed, rows, target.trace)];
}

function rowOf(
  experiment: Experiment,
  found: readonly FoundBroken[],
  agreed: Agreement,
  target: Target,
): Row {
  const { name, law, section, promise } = experiment;
  const shown: ShownBroken[] = [];
  const reasons = new Map<string, string[]>();
  const left = (operation: string, why: string): void =>
    void reasons.set(why, [...(reasons.get(why) ?? []), operation]);
  const operations: string[] = [];
  for (const { task, finding, isRepeated } of found) {
    const { operation } = task.subject;
    if (finding.state === "kept") operations.push(operation);
    else if (finding.state === "not exercised") left(operation, finding.why);
    else {
      const one = shownBroken(experiment, operation, finding, isRepeated, agreed, target);
      if (isRepeated || one.oracle === "agrees") shown.push(one);
      else left(operation, `seen once (${one.got}), and not again`);
    }
  }
  const state = shown.length > 0 ? "broken" : operations.length > 0 ? "kept" : "not exercised";
  return { name, law, section, promise, state, why: whyOf(reasons, state), operations, broken: shown };
}

/** Returns the reasons, each once, with the operations if others were exercised or had other reasons. */
function whyOf(reasons: ReadonlyMap<string, readonly string[]>, state: State): string | null {
  const [only] = reasons.keys();
  if (only === undefined || (reasons.size === 1 && state === "not exercised")) return only ?? null;
  return [...reasons].map(([why, of]) => `${[...new Set(of)].join(", ")}: ${why}`).join("; ");
}

function shownBroken(
  experiment: Experiment,
  operation: string,
  { law = experiment.law, expected, got, answers }: Broken,
  isRepeated: boolean,
  agreed: Agreement,
  target: Target,
): ShownBroken {
  const lines = answers.map(({ line }) => line);
  return {
    law,
    operation,
    expected,
    got,
    calls: answers.slice(0, callsMost).map(shownCall),
    isRepeated,
    oracle: oracleOn(agreed, law, lines),
    follows: null,
    repeat: repeatOf(experiment, answers, target),
  };
}

function shownCall({ line, call, shot }: Answer): ShownCall {
  const who = shot.caller?.name ?? "nobody known";
  const way = shot.way === "kept" ? "" : ` (${shot.way})`;
  const readings = call.readings.flatMap(({ quota, limit, remaining, used }) => {
    if (remaining !== null) return [`${quota} ${remaining} of ${limit ?? "?"} left`];
    return used === null ? [] : [`${quota} ${used} used`];
  });
  const outcome =
    call.outcome === "refused"
      ? [`refused${call.by === undefined ? "" : ` by ${call.by}`}`]
      : call.outcome === "unknown"
        ? ["nobody knows whether it was charged"]
        : [];
  return {
    line,
    what: `${shot.method} ${shot.path}${way} by ${who}`,
    status: call.status,
    said: [...outcome, ...readings].join("; "),
  };
}

const quoted = (text: string): string =>
  /^[\w./:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

/** Returns a line of curl if one call alone shows the finding; otherwise the experiment's own command. */
function repeatOf(
  { name, empties = 0, waits = 0 }: Experiment,
  answers: readonly Answer[],
  { target, policy, again }: Target,
): string {
  const [answer] = answers;
  if (
    empties + waits === 0 &&
    answers.length === 1 &&
    answer !== undefined &&
    answer.shot.way === "kept" &&
    answer.call.outcome !== "refused"
  ) {
    const { method, headers, body, path, caller } = answer.shot;
    const credential = `${policy.auth.header}: ${credentialOf(policy.auth, "$TOKEN")}`;
    const typed = body === null ? {} : { "Content-Type": "application/json" };
    const own = Object.entries({ ...typed, ...headers }).flatMap(([header, value]) => [
      "-H",
      quoted(`${header}: ${value}`),
    ]);
    const words = [
      ...(method === "HEAD" ? ["-I"] : method === "GET" ? ["-i"] : ["-i", "-X", method]),
      ...(caller === null ? [] : ["-H", `"${credential}"`]),
      ...own,
      ...(body === null ? [] : ["-d", quoted(body)]),
      quoted(target + path),
    ];
    return `curl -sS ${words.join(" ")}`;
  }
  return `${again} --only ${name}`;
}

/** Adds to the rows the laws that the oracle found broken in the earlier part. */
export function withEarlier(rows: readonly Row[], before: readonly Row[]): Row[] {
  const was = before.find(({ name }) => name === agreementName)?.broken ?? [];
  return rows.map((row) => {
    if (row.name !== agreementName) return row;
    const left = was.filter(({ law }) => !row.broken.some((one) => one.law === law));
    const [first] = left;
    if (first === undefined) return row;
    const law = row.state === "broken" ? row.law : first.law;
    return { ...row, law, state: "broken", why: null, broken: [...row.broken, ...left] };
  });
}

function agreementRow(agreed: Agreement, rows: readonly Row[], trace: string): Row {
  const [first] = agreed.accusations;
  const row = {
    name: agreementName,
    section: "SPEC.md §7",
    promise: "status, headers, refusals and the oracle's own count tell one story for the whole audit",
    operations: [],
    broken: [],
  };
  if (first === undefined)
    return {
      ...row,
      law: "conserved",
      state: agreed.unjudged === null ? "kept" : "not exercised",
      why: agreed.unjudged,
    };
  const laws = [...new Set(agreed.accusations.map(({ law }) => law))];
  const explained = rows.find((one) => one.broken.some(({ law }) => laws.includes(law as never)));
  return {
    ...row,
    law: first.law,
    state: "broken",
    why: null,
    broken: laws.map((law) => {
      const one = agreed.accusations.find((each) => each.law === law) ?? first;
      const suspects =
        one.suspects.length === 0 ? "" : ` (it looks like ${one.suspects.slice(0, 2).join(" or ")})`;
      return {
        law,
        operation: "all",
        expected: "the trace agrees with the rules",
        got: `${one.explanation}${suspects}`,
        calls: one.lines
          .slice(0, callsMost)
          .map((line) => ({ line, what: "in the trace", status: 0, said: "as verify tells it" })),
        isRepeated: false,
        oracle: "agrees",
        follows: explained?.name ?? null,
        repeat: `npx spillway verify ${quoted(trace)}`,
      };
    }),
  };
}
