// The switches that a trace without rules told, in words. A value is inferred if answers contradict all others.
import { parseRules } from "../rules/parse.ts";
import type { Scope } from "../rules/rules.ts";
import { type SwitchName, switches, switchValues, switchWords } from "../rules/switches.ts";
import type { Exhibit, Hypotheses, Hypothesis } from "./hypotheses.ts";
import type { Options } from "./options.ts";
import type { Suspect } from "./suspects.ts";
import { countSwitches, type Terms } from "./terms.ts";
import type { Inferred, Question } from "./verdict.ts";

/** Returns the value of a switch under terms. */
function valueUnder({ charging, ...terms }: Terms, name: (typeof countSwitches)[number]): string | null {
  if (name === "graphqlCharge") return charging === "at-decision" ? "prepaid" : charging;
  return terms[name as keyof typeof terms];
}

/** Faults that show like another value of a switch. */
const asFaults: Readonly<Record<string, readonly Suspect[]>> = {
  "anchor first-request": ["organization-off-grid"],
  "refused counted": ["refused-counted"],
  "refusedByUser charges-organization": ["narrow-drains-broad"],
  "reset floor": ["reset-truncated"],
  "userEnforced always": ["unenforced-refuses"],
};

/** Asks whether each inferred value is meant that is not the default. */
export function questionsOf(inferred: readonly Inferred[]): readonly Question[] {
  const defaults = parseRules({}).semantics;
  return inferred.flatMap(({ switch: name, scope, value, words, lines }) => {
    if (value === null || words === undefined || value === String(defaults[name][scope])) return [];
    const question = `${words} Is that meant? \`--rules\` settles it.`;
    return [{ scope, question, suspects: asFaults[`${name} ${value}`] ?? [], lines }];
  });
}

/** Infers the switches that one scope's counts depend on. */
export function inferCounts(scope: Scope, hypotheses: Hypotheses): readonly Inferred[] {
  return countSwitches
    .filter((name) => scope === "graphql" || name !== "graphqlCharge")
    .map((name) => {
      const valueIn = (terms: Terms): string | null => valueUnder(terms, name);
      const values = new Set(hypotheses.left.map(({ terms }) => valueIn(terms)));
      const all = switchValues[name].map(String);
      const left = all.filter((value) => values.has(value));
      if (hypotheses.isExhausted)
        return {
          ...unknown(name, scope, all),
          explanation: `no values of the switches fit this trace; counts were judged as under ${left[0]}, among others`,
        };
      const [value] = left;
      const others = all.filter((other) => !left.includes(other));
      const exhibits = others.flatMap((other) => {
        const exhibit = nearest(hypotheses, valueIn, other);
        return exhibit === null ? [] : [[other, exhibit] as const];
      });
      if (left.length === 1 && value !== undefined) return known(name, scope, value, exhibits);
      return narrowed(unknown(name, scope, left), exhibits);
    });
}

/** Infers a switch that windows or answers tell alone. */
export function inferOption<T extends string | boolean>(
  name: SwitchName,
  scope: Scope,
  options: Options<T>,
): Inferred {
  const { left, all, against } = options;
  const others = [...against].map(([other, exhibit]) => [String(other), exhibit] as const);
  if (left.length === 1) return known(name, scope, String(left[0]), others);
  if (left.length > 0) return narrowed(unknown(name, scope, left.map(String)), others);
  const told = [...against.values()];
  return {
    ...unknown(name, scope, all.map(String)),
    explanation: `no value fits: ${told.map(({ explanation }) => explanation).join("; but ")}`,
    lines: linesOf(told),
  };
}

/** Returns the contradiction of a value, under the terms that are most like those that are left. */
function nearest(
  { all, left }: Hypotheses,
  valueIn: (terms: Terms) => string | null,
  value: string,
): Exhibit | null {
  const likeness = ({ terms }: Hypothesis): number => {
    const [one] = left;
    if (one === undefined) return 0;
    return countSwitches.filter((other) => valueUnder(terms, other) === valueUnder(one.terms, other)).length;
  };
  const ruledOut = all.filter(({ terms, against }) => against !== null && valueIn(terms) === value);
  const [best] = ruledOut.sort((a, b) => likeness(b) - likeness(a));
  return best?.against ?? null;
}

const unknown = (name: SwitchName, scope: Scope, candidates: readonly string[]): Inferred => ({
  switch: name,
  scope,
  value: null,
  candidates,
  explanation: switches[name].untold,
  lines: [],
});

/** Tells which values of a switch are ruled out if no single value is known. */
function narrowed(inferred: Inferred, others: readonly (readonly [string, Exhibit])[]): Inferred {
  if (others.length === 0) return inferred;
  const { explanation, lines } = known(inferred.switch, inferred.scope, "", others);
  return { ...inferred, explanation: `${explanation}; otherwise ${inferred.explanation}`, lines };
}

function known(
  name: SwitchName,
  scope: Scope,
  value: string,
  others: readonly (readonly [string, Exhibit])[],
): Inferred {
  const told = others.map(([other, { explanation }]) => `not ${other}: ${explanation}`);
  const words = switchWords(name, value);
  return {
    switch: name,
    scope,
    value,
    ...(words === undefined ? {} : { words }),
    explanation: told.join("; "),
    lines: linesOf(others.map(([, e]) => e)),
  };
}

const linesOf = (exhibits: readonly Exhibit[]): readonly number[] =>
  [...new Set(exhibits.flatMap(({ lines }) => lines))].sort((a, b) => a - b);
