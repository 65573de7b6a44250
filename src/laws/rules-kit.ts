// Checks the laws of a limiter by rules: draws scripts that it can be asked, and judges them.
import type { LimiterFactory } from "../engine/adapter.ts";
import type { PlaceOf } from "../engine/limiter-failure.ts";
import { type Algorithm, claimsOf } from "../rules/algorithms.ts";
import {
  changedForms,
  type LimiterLawName,
  limiterLawStatements,
  voidEverywhere,
  voidReason,
} from "../rules/laws.ts";
import { type Rules, type RulesInput, scopes } from "../rules/rules.ts";
import { type OpFrequencies, scriptArbitrary, within } from "./arbitraries.ts";
import { quotaOf, quotaScript } from "./by-rules.ts";
import { laws } from "./catalogue.ts";
import { judgeScript } from "./causes.ts";
import { evidenceOf } from "./evidence.ts";
import { formOf } from "./known.ts";
import type { RulesKind } from "./law.ts";
import type { LawKit } from "./search.ts";
import { prepare } from "./subject.ts";

/** Returns a law's profile without operations that this limiter cannot be asked for. */
function profileFor(
  law: LimiterLawName,
  may: ReadonlySet<keyof OpFrequencies>,
  algorithm: Algorithm,
): OpFrequencies {
  // Without a window whose end it can meet, a caller has to stay away for long.
  const kept = within(laws[law].profile, may);
  const beyond = law === "recovers" && algorithm !== "fixed-window" ? 20 : laws[law].profile.beyond;
  // Under `concurrency`, places should be given back about as often as they are taken.
  return { ...kept, beyond, settle: algorithm === "concurrency" ? 2 * kept.settle : kept.settle };
}

/** @throws SpillwayError the errors of `prepare` */
export async function rulesKit(
  factory: LimiterFactory,
  options: {
    readonly rules?: RulesInput;
    readonly startMs?: number;
    readonly evidence?: boolean;
    readonly placeOf?: PlaceOf;
  },
): Promise<LawKit<RulesKind>> {
  const { subject, may } = await prepare(factory, options);
  return {
    name: factory.name,
    claims: claimsOf(factory),
    statements: limiterLawStatements,
    voidReason: (law) => {
      if (claimsOf(factory).includes(law) && !claimsOf(subject).includes(law)) return ofOwnGrid;
      const { rules } = subject;
      return rules === undefined || voidEverywhere(law, rules) === null ? null : whyVoid(law, rules);
    },
    scripts: (law) => scriptArbitrary(subject, profileFor(law, may, subject.algorithm)),
    runs: (law) => ({
      note({ rules }, voids, changes) {
        for (const scope of scopes) {
          const reason = voidReason(law, rules, scope);
          if (reason !== null) voids(`${scope}: ${reason}`);
          for (const form of changedForms(law, rules, scope)) changes(`${scope}: ${form}`);
        }
      },
      isVoid: ({ rules }) => voidEverywhere(law, rules) !== null,
      judge: (script) => judgeScript(factory, law, script),
      ...(options.evidence === true && { evidenceOf }),
    }),
    limits: "rules",
    formOf: (script, window) => formOf(quotaScript(script), window === null ? null : quotaOf(window)),
  };
}

/** Reason why a law of windows says nothing of ones that the kit takes for a bucket. */
const ofOwnGrid =
  "the windows lie on a grid that the limiter alone knows, as a bucket that is filled once a window";

const whyVoid = (law: LimiterLawName, rules: Rules): string =>
  scopes.map((scope) => `${scope}: ${voidReason(law, rules, scope)}`).join("; ");
