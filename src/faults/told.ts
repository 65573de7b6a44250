// Faults in what answers tell: the counters behind them are correct.
import { quotaFor } from "../policy/effective.ts";
import type { Policy } from "../policy/policy.ts";
import { wireOf } from "../policy/presets.ts";
import type { AnswerKind, TimeForm, WireReading } from "../policy/wire-data.ts";
import type { Problem } from "../rules/errors.ts";
import type { HttpAnswer } from "../wire/answer.ts";
import { headerNames, nodeHeaders } from "../wire/fields.ts";
import { isRefusal } from "../wire/outcome.ts";
import type { AnswerToWrite, ReadingToWrite } from "../wire/write-answer.ts";
import { type CountedCaller, Counter } from "./counter.ts";
import type { ChangedReading, Fault, FaultyQuotas } from "./fault.ts";
import { hasStatus } from "./fits.ts";

type Injected = Pick<Fault, "unfit" | "inject">;

const right = (policy: Policy, changed: Omit<FaultyQuotas, "store">): FaultyQuotas => ({
  store: new Counter(policy),
  ...changed,
});

const rowsOf = (policy: Policy): readonly WireReading[] => wireOf(policy).readings;

/** Returns a problem unless the policy tells resets in whole seconds from the answer on. */
const inSeconds = (policy: Policy): Problem | null =>
  rowsOf(policy).some(({ reset }) => reset?.form === "delta-s")
    ? null
    : {
        path: "wire.readings",
        got: "no reset in seconds from the answer on",
        allowed: "a reset of the form delta-s",
      };

/** Returns a fault that writes resets in another form. */
export const resetsAs = (form: TimeForm): Injected => ({
  unfit: inSeconds,
  inject(policy) {
    const wire = wireOf(policy);
    const changed = wire.readings.map((row) =>
      row.reset?.form === "delta-s" ? { ...row, reset: { ...row.reset, form } } : row,
    );
    return right(policy, { wire: { ...wire, readings: changed } });
  },
});

/** Fault: seconds are rounded down. */
export const resetsDown: Injected = {
  unfit: inSeconds,
  inject(policy) {
    const quotas = Object.entries(policy.quotas).map(
      ([name, quota]) => [name, { ...quota, shown: { ...quota.shown, reset: "floor" } }] as const,
    );
    return right(policy, { shownBy: { ...policy, quotas: Object.fromEntries(quotas) } });
  },
};

/** Circumstances of a told reading. */
interface Telling {
  readonly told: AnswerToWrite;
  readonly caller: CountedCaller;
  readonly nowMs: number;
  readonly policy: Policy;
  readonly rate: number;
}

const showsNone: Problem = { path: "wire.readings", got: "none", allowed: "answers that show readings" };

/** Returns a fault that changes each reading before it is written. */
export const readingsTold = (
  change: (reading: ReadingToWrite, telling: Telling) => ChangedReading,
  unfit: Injected["unfit"] = (policy) => (rowsOf(policy).length > 0 ? null : showsNone),
): Injected => ({
  unfit,
  inject: (policy, { rate }) =>
    right(policy, {
      tell: (told, caller, nowMs) => ({
        ...told,
        readings: told.readings.map((reading) => change(reading, { told, caller, nowMs, policy, rate })),
      }),
    }),
});

const showsResets = (policy: Policy): Problem | null =>
  rowsOf(policy).some(({ reset }) => reset !== undefined)
    ? null
    : { path: "wire.readings", got: "no reset", allowed: "answers that show resets" };

/** Fault: resets count to the window's beginning. */
export const resetsPast = readingsTold((reading, { policy, caller }) => {
  const { algorithm } = quotaFor(policy, reading.quota, caller);
  const lengthMs = algorithm.kind === "fixed-window" ? algorithm.windowSeconds * 1000 : 0;
  return { ...reading, resetAtMs: reading.resetAtMs - lengthMs };
}, showsResets);

/** Fault: resets are 0 in a window's last second. */
export const resetsZero = readingsTold((reading, { nowMs }) => {
  const { resetAtMs, clockMs = nowMs } = reading;
  return resetAtMs - clockMs <= 1000 ? { ...reading, resetAtMs: Math.min(clockMs, resetAtMs) } : reading;
}, inSeconds);

/** Fault: every later refusal of a window repeats the reset of the first. */
export const resetsKept: Injected = {
  unfit: inSeconds,
  inject(policy, world) {
    const kept = new Map<string, { readonly resetAtMs: number; readonly leftMs: number }>();
    const telling = readingsTold((reading, { told, caller, nowMs }) => {
      const { quota, resetAtMs, clockMs = nowMs } = reading;
      if (quota !== told.refusedBy) return reading;
      const name = JSON.stringify([quota, caller]);
      const known = kept.get(name);
      const first = known?.resetAtMs === resetAtMs ? known : { resetAtMs, leftMs: resetAtMs - clockMs };
      kept.set(name, first);
      return { ...reading, resetAtMs: clockMs + first.leftMs };
    });
    return telling.inject(policy, world);
  },
};

/** Fault: refusals tell to come back in a second, however much of the window is left. */
export const retriesSoon: Injected = {
  unfit: (policy) =>
    wireOf(policy).retryAfter.length > 0 && Object.values(policy.quotas).some(({ shown }) => shown.retryAfter)
      ? null
      : { path: "wire.retryAfter", got: "none", allowed: "refusals that tell when to come back" },
  inject: (policy) =>
    right(policy, {
      tell: (told, _caller, nowMs) => ({
        ...told,
        retryAtMs: told.retryAtMs === null ? null : Math.min(told.retryAtMs, nowMs + 1000),
      }),
      changeOwn: (answer) =>
        answer.headers[headerNames.retryAfter] === undefined
          ? answer
          : { ...answer, headers: { ...answer.headers, [headerNames.retryAfter]: 1 } },
    }),
};

/** Fault: a status shows unused quotas. */
export const statusPristine = readingsTold(
  (reading, { told }) =>
    told.kind === "status" ? { ...reading, used: 0, remaining: reading.limit } : reading,
  hasStatus,
);

const laxer = readingsTold((reading, { told: { readings, kind } }) =>
  kind !== "status" && reading === readings.at(-1)
    ? { ...reading, limit: 2 * reading.limit, remaining: reading.remaining + reading.limit }
    : reading,
);

/** Fault: the last quota of each call is shown with twice its limit; by rules, in its headers alone. */
export const lastLaxer: Injected = {
  ...laxer,
  inject: (policy, world) => ({
    ...laxer.inject(policy, world),
    changeOwn(answer) {
      const limit = Number(answer.headers[headerNames.userLimit]);
      const remaining = Number(answer.headers[headerNames.userRemaining]) + limit;
      const changed = { [headerNames.userLimit]: 2 * limit, [headerNames.userRemaining]: remaining };
      return { ...answer, headers: { ...answer.headers, ...changed } };
    },
  }),
};

const own = new Set(Object.values(nodeHeaders).filter((name) => name !== nodeHeaders.retryAfter));

/** Returns an answer without the default API's eight headers, its warnings and the points. */
export const bare = ({ headers }: HttpAnswer): Pick<HttpAnswer, "headers"> => ({
  headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !own.has(name.toLowerCase()))),
});

/** Returns a fault that leaves the readings out of one kind of answer. */
export const silentOn = (kind: "refused" | "status"): Injected => ({
  unfit: (policy) =>
    rowsOf(policy).some(({ on }) => on.includes(kind))
      ? null
      : { path: "wire.readings", got: `none on ${kind}`, allowed: `readings on ${kind}` },
  inject(policy) {
    const wire = wireOf(policy);
    const readings = wire.readings.map((row) => ({ ...row, on: row.on.filter((each) => each !== kind) }));
    return right(policy, {
      wire: { ...wire, readings },
      changeOwn(answer, about) {
        const answered: AnswerKind = isRefusal(answer.status)
          ? "refused"
          : about.kind === "status"
            ? "status"
            : "admitted";
        return answered === kind ? { ...answer, ...bare(answer) } : answer;
      },
    });
  },
});

/** Fault: every header of a reading comes twice, and HTTP joins the values of one name. */
export const headersTwice: Injected = {
  unfit: (policy) =>
    rowsOf(policy).some(({ headers }) => Object.keys(headers).length > 0)
      ? null
      : { path: "wire.readings", got: "no header", allowed: "readings in headers" },
  inject(policy) {
    const names = new Set(
      rowsOf(policy).flatMap(({ headers }) => Object.keys(headers).map((name) => name.toLowerCase())),
    );
    return right(policy, {
      change: (answer) => ({
        ...answer,
        headers: Object.fromEntries(
          Object.entries(answer.headers).map(([name, value]) => [
            name,
            names.has(name.toLowerCase()) ? `${value}, ${value}` : value,
          ]),
        ),
      }),
    });
  },
};
