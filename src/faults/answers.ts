// Faults in answers alone: the deployment behind them is correct.
import type { Store } from "../engine/store.ts";
import { quotaNames } from "../policy/names.ts";
import type { Scope } from "../rules/rules.ts";
import { type HttpAnswer, headers } from "../wire/answer.ts";
import { refusalBody, statusBody } from "../wire/bodies.ts";
import { headerNames } from "../wire/fields.ts";
import { isRefusal, REFUSED } from "../wire/outcome.ts";
import { Counter } from "./counter.ts";
import type { Answered, FaultEntry } from "./fault.ts";
import { ofDefault } from "./fits.ts";
import { rulesStore } from "./rules-store.ts";
import { bare, headersTwice, lastLaxer, silentOn, statusPristine } from "./told.ts";

/** Returns a correct deployment of the default API whose answers `change` alters. */
const sending = (
  change: (answer: HttpAnswer, about: Answered, limiter: Store) => Partial<HttpAnswer> | null,
): Pick<FaultEntry, "unfit" | "inject"> => ({
  unfit: ofDefault,
  inject(policy) {
    const store = new Counter(policy);
    const limiter = rulesStore(policy, store);
    return {
      store,
      changeOwn: (answer, about) => ({ ...answer, ...change(answer, about, limiter) }),
    };
  },
});

export const answerFaults: readonly FaultEntry[] = [
  {
    name: "status-pristine",
    wrong: "the status always shows an unused window",
    shows: "current 0 against headers that show a spent one",
    seenIn: ["slicc#3326"],
    nets: ["V", "L"],
    ...statusPristine,
  },
  {
    name: "status-shares-user",
    wrong: "the status shows the count of the caller's window, not of the organization's",
    shows: "current = the caller's count",
    nets: ["V"],
    ...sending((_answer, { kind, organization, user, nowMs }, limiter) => {
      if (kind !== "status") return null;
      const shared = (scope: Scope) => {
        const readings = limiter.readings(organization, user, scope, nowMs);
        return { ...readings.organization, current: readings.user.current };
      };
      return { body: statusBody({ rest: shared("rest"), graphql: shared("graphql") }) };
    }),
  },
  {
    name: "headers-missing-on-429",
    wrong: "a refusal carries none of the eight headers",
    shows: "missing",
    seenIn: ["yelp-fusion#388"],
    nets: ["V", "L"],
    ...silentOn("refused"),
  },
  {
    name: "headers-missing-on-status",
    wrong: "the status response carries none of the eight headers",
    shows: "missing",
    nets: ["V", "L"],
    ...silentOn("status"),
  },
  {
    name: "headers-doubled",
    wrong: "the application and a gateway before it both add the eight headers",
    shows: "`rest, rest`, and numbers that are lists",
    nets: ["P", "V", "L"],
    ...headersTwice,
  },
  {
    name: "wrong-scope-header",
    wrong: `REST's user header names the organization's scope: \`${headerNames.userScopeName}: rest\``,
    shows: "an illegal value",
    nets: ["V", "L"],
    ...sending(({ headers }, { scope }) =>
      scope === "rest"
        ? { headers: { ...headers, [headerNames.userScopeName]: quotaNames.rest.organization } }
        : null,
    ),
  },
  {
    name: "remaining-of-laxer-window",
    wrong: "the user's headers show another policy, of twice the limit",
    shows: "99, 98, 97, ... and refused at 50",
    seenIn: ["AspNetCoreRateLimit#418"],
    nets: ["V", "L"],
    ...lastLaxer,
  },
  {
    name: "status-refused-when-empty",
    wrong: "the status is refused once the caller has nothing left",
    shows: "a status call that is refused",
    nets: ["A"],
    ...sending((_answer, { kind, organization, user, nowMs }, limiter) => {
      const readings = limiter.readings(organization, user, "rest", nowMs);
      if (kind !== "status" || readings.user.remaining > 0) return null;
      return { status: REFUSED, body: refusalBody("rest", "user", readings) };
    }),
  },
  {
    name: "refusal-shows-other-scope",
    wrong: "REST's refusal shows GraphQL's windows in its headers",
    shows: "the other scope's names and numbers on a refusal",
    nets: ["A"],
    ...sending(({ status, headers: sent }, { organization, user, scope, nowMs }, limiter) => {
      if (!isRefusal(status) || scope !== "rest") return null;
      const readings = limiter.readings(organization, user, "graphql", nowMs);
      return { headers: { ...sent, ...headers("graphql", readings) } };
    }),
  },
  {
    name: "rejected-query-charged",
    wrong: "a GraphQL query that is not executed is charged one point",
    shows: "the count rises by the queries that were answered with errors alone",
    nets: ["A"],
    ...sending(({ status, headers: sent }, { kind, organization, user, scope, nowMs }, limiter) => {
      if (kind !== "other" || scope !== "graphql" || status === 403) return null;
      const charged = limiter.decide({ organization, user, scope, cost: 1 }, nowMs);
      if (charged.reservation !== null) limiter.settle(charged.reservation, 1, nowMs);
      return { headers: { ...sent, ...headers("graphql", charged) } };
    }),
  },
  {
    name: "headers-missing-on-404",
    wrong: "an answer of 404 carries none of the eight headers, and is charged",
    shows: "missing",
    nets: ["A"],
    ...sending((answer) => (answer.status === 404 ? bare(answer) : null)),
  },
  {
    name: "refusal-body-disagrees",
    wrong: "the body of REST's refusal tells another limit than its headers",
    shows: "twice the limit in the body",
    nets: ["A"],
    ...sending(({ status, body }, { scope }) => {
      if (!isRefusal(status) || scope !== "rest") return null;
      const { limit, ...rest } = body as { readonly limit: number };
      return { body: { ...rest, limit: 2 * limit } };
    }),
  },
  {
    name: "refusal-503",
    wrong: "a refusal is sent as 503 without the eight headers",
    shows: "a call without room looks like an outage",
    nets: ["A"],
    ...sending((answer) => (isRefusal(answer.status) ? { ...bare(answer), status: 503 } : null)),
  },
];
