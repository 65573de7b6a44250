// Places of limits → a wire format as data (POLICY.md §8). A reset whose form is unsure is left out.
import * as v from "valibot";
import type { TimeForm, WireData } from "../policy/wire-data.ts";
import { type WireInput, wireSchema } from "../policy/wire-schema.ts";
import { waitOf } from "../wire/dialects.ts";
import { nodeHeaders } from "../wire/fields.ts";
import { isFailure, isRefusal } from "../wire/outcome.ts";
import { type AnswerReading, readAnswer } from "../wire/read-answer.ts";
import { readTime } from "../wire/times.ts";
import { type AnswerPlace, bodyPlaces, headerPlaces, isCount, numberAt, templateOf } from "./fields.ts";
import { periodOf } from "./header-names.ts";
import { isAboutLimits } from "./paths.ts";
import type { MapQuestion } from "./question.ts";
import { type FoundForm, resetForm, type ShownReset } from "./reset-form.ts";
import { isPlainWord, type SeenAnswers } from "./seen.ts";
import { structuredFields } from "./structured.ts";

/** A wire format, and the readings that answers show by it. */
export interface BuiltWire {
  readonly wire: WireInput | string;
  readonly readings: readonly (readonly AnswerReading[])[];
  /** Forms of resets that were settled, by quota; by `""` if the answer names the quota. */
  readonly resets: ReadonlyMap<string, FoundForm>;
}

type RowInput = WireInput["readings"] extends readonly (infer Row)[] | undefined ? Row : never;
type Outcomes = NonNullable<WireInput["outcomes"]>;
type Retries = NonNullable<WireInput["retryAfter"]>;

/** Builds a wire format of what answers show. @param questions gets what they do not settle */
export function buildWire(
  seen: readonly SeenAnswers[],
  secrets: ReadonlySet<string>,
  questions: MapQuestion[],
): BuiltWire {
  const structured = structuredFields(seen, secrets);
  const { places, strange } = headerPlaces(seen, Object.keys(structured?.headers ?? {}));
  const fields = places.filter(({ role }) => role !== "retry");
  const rows: { row: RowInput; quotas: readonly string[]; reset: FoundForm | null }[] = [];
  /** Resets beside several quotas that do not say which quota they belong to. */
  const nameless: AnswerPlace[] = [];
  if (structured !== null) {
    const { headers, quotas } = structured;
    rows.push({ row: { headers, reset: { form: "delta-s", means: "estimate" } }, quotas, reset: null });
  }
  const add = (group: readonly AnswerPlace[], quota: string, on?: RowInput["on"]): void => {
    const built = rowOf(group, quota, seen, secrets, questions, rows.length);
    if (built !== null) strange.push(...group.filter((place) => isUnread(place)).map(({ at }) => at));
    else if (group.every(({ role, label }) => role === "reset" && label === "")) nameless.push(...group);
    else strange.push(...group.map(({ at }) => at));
    if (built !== null) rows.push({ ...built, row: on === undefined ? built.row : { ...built.row, on } });
  };
  const inHeaders = groupsOf(fields, ({ label }) => label);
  for (const [label, group] of inHeaders) add(group, quotaName(label));
  for (const [, group] of groupsOf(bodyPlaces(seen), ({ at }) => parentOf(at))) {
    const isStatus = isStatusOnly(group, seen);
    // Limits that headers show already are read there.
    if ((inHeaders.size === 0 && structured === null) || isStatus)
      add(group, quotaName(group[0]?.label ?? ""), isStatus ? ["status"] : undefined);
  }
  for (const { at, values } of fields)
    if ([...values.values()].some((text) => /^-?\d+(?:\s*,\s*-?\d+)+$/.test(text.trim())))
      questions.push({
        path: "wire.readings",
        seen: `${at} has several numbers in one answer; the first is read.`,
        settle:
          "Is it sent twice, by the application and a gateway? Its documentation says which one counts.",
      });
  for (const at of new Set(strange))
    questions.push({
      path: "wire.readings",
      seen: `${at} looks like a limit, and is in no form that is known; it is left out.`,
      settle: "Find its meaning in the API's documentation.",
    });
  for (const { at } of nameless)
    questions.push({
      path: "wire.readings",
      seen: `${at} does not say which of several quotas it is of; it is left out.`,
      settle: "Take it from the documentation: a quota's reset, or how long to wait (wire.retryAfter).",
    });
  const wire: WireInput = {
    revision: "observed",
    readings: rows.map(({ row, quotas }) => ({
      ...row,
      ...(rows.length > 1 ? { quotas: [...quotas] } : {}),
    })),
    retryAfter: retries(places, questions),
    outcomes: refusalsOf(seen, places),
  };
  const data = v.parse(wireSchema, wire) as WireData;
  const names = [...new Set(rows.flatMap(({ quotas }) => quotas))];
  const labels = new Map([...inHeaders.keys()].map((label) => [quotaName(label), periodOf(label)]));
  const readings = seen.map((each) =>
    [false, true]
      .flatMap((isStatus) => readAnswer(data, each, { quotas: names, isStatus }).readings)
      // A quota with a name such as "daily" tells its window by the name.
      .map((reading) => ({
        ...reading,
        windowSeconds: reading.windowSeconds ?? labels.get(reading.quota ?? "") ?? null,
      })),
  );
  const resets = new Map(
    rows.flatMap(({ quotas, reset }) =>
      reset === null ? [] : (quotas.length === 1 ? quotas : [""]).map((quota) => [quota, reset] as const),
    ),
  );
  return { wire, readings, resets };
}

function groupsOf(
  places: readonly AnswerPlace[],
  key: (place: AnswerPlace) => string,
): Map<string, AnswerPlace[]> {
  const groups = new Map<string, AnswerPlace[]>();
  for (const place of places) groups.set(key(place), [...(groups.get(key(place)) ?? []), place]);
  return groups;
}

const parentOf = (pointer: string): string => pointer.slice(0, pointer.lastIndexOf("/"));

/** Returns a label as a name for a policy. */
const quotaName = (label: string): string => {
  const plain = label.replace(/[^\w]+/g, "_").slice(0, 40);
  return plain === "" ? "requests" : /^[A-Za-z_]/.test(plain) ? plain : `q${plain}`;
};

/** Tells whether a body's limits were shown only by paths that are about limits. */
const isStatusOnly = (group: readonly AnswerPlace[], seen: readonly SeenAnswers[]): boolean =>
  group.every(({ values }) => [...values.keys()].every((index) => isAboutLimits(seen[index] as SeenAnswers)));

/** Tells whether a place holds a count in no known form. */
const isUnread = (place: AnswerPlace): boolean =>
  (isCount(place.role) || place.role === "window") && templateOf(place) === null;

/** Returns one row of a wire format: all numbers of one quota, or of the quota that the answer names. */
function rowOf(
  group: readonly AnswerPlace[],
  quota: string,
  seen: readonly SeenAnswers[],
  secrets: ReadonlySet<string>,
  questions: MapQuestion[],
  index: number,
): { row: RowInput; quotas: string[]; reset: FoundForm | null } | null {
  const forms: Record<string, string | string[]> = {};
  const namer = group.find(({ role }) => role === "quota");
  const named = namer === undefined ? [] : [...new Set(namer.values.values())];
  const isNamed = named.length > 0 && named.every((each) => isPlainWord(each, secrets));
  if (namer !== undefined && isNamed) forms[namer.at] = "{quota}";
  for (const place of group) {
    if (!isCount(place.role) && place.role !== "window") continue;
    const template = templateOf(place);
    if (template !== null) forms[place.at] = template;
  }
  if (!Object.values(forms).some((form) => /\{(?:limit|remaining|used)\}/.test(String(form)))) return null;
  const resetPlace = group.find(({ role }) => role === "reset");
  const number = (role: string, answer: number): number | null => {
    const place = group.find((each) => each.role === role);
    return place === undefined ? null : numberAt(place, forms[place.at] ?? "", answer, role);
  };
  const retryMs = ({ headers, atMs }: SeenAnswers): number | null =>
    atMs === null ? null : (waitOf(headers[nodeHeaders.retryAfter], atMs).retryAfterMs ?? null);
  const shown = [...(resetPlace?.values ?? [])].map(
    ([answer, text]): ShownReset => ({
      text,
      atMs: seen[answer]?.atMs ?? null,
      of: `${seen[answer]?.caller} ${namer?.values.get(answer)}`,
      limit: number("limit", answer),
      remaining: number("remaining", answer),
      retryMs: retryMs(seen[answer] as SeenAnswers),
    }),
  );
  const found = resetPlace === undefined ? null : resetForm(shown);
  const reset = found !== null && "form" in found ? found : null;
  if (resetPlace !== undefined && reset !== null) forms[resetPlace.at] = resetPlace.whole ?? "{reset}";
  if (found !== null && "possible" in found && resetPlace !== undefined)
    questions.push({
      path: `wire.readings.${index}.reset`,
      seen: `${resetPlace.at} ${formWords(found)}; it is left out.`,
      settle:
        found.possible.length === 0
          ? "Find its form in the API's documentation."
          : "Call again as the same caller at least 2 s later, and give both answers to map.",
    });
  if (reset !== null && reset.means === null)
    questions.push({
      path: `wire.readings.${index}.reset.means`,
      seen: `Nothing tells what the instant in ${resetPlace?.at} means; "estimate" promises nothing.`,
      settle: "Make two calls at least 2 s apart within one window: the end of a window stays, others move.",
    });
  const isHeader = group[0]?.isHeader === true;
  return {
    row: {
      ...(isHeader ? { headers: forms } : { body: forms }),
      ...(reset === null ? {} : { reset: { form: reset.form, means: reset.means ?? "estimate" } }),
    },
    quotas: isNamed ? named : [quota],
    reset,
  };
}

function formWords({ possible, isFar }: { possible: readonly TimeForm[]; isFar: boolean }): string {
  if (possible.length > 0) return `may be ${possible.join(" or ")}`;
  return isFar ? "is a time that is past, or more than a year ahead" : "is of no known form";
}

/** Returns the form of advice on retries, by RFC 9110 and by the header's own name. */
function formOfRetry({ at, values }: AnswerPlace): TimeForm | null {
  const forms: readonly TimeForm[] = /-ms$/.test(at)
    ? ["delta-ms"]
    : ["delta-s", "delta-s-float", "http-date", "go-duration"];
  return (
    forms.find((form) => [...values.values()].every((text) => readTime(form, text.trim()) !== null)) ?? null
  );
}

function retries(places: readonly AnswerPlace[], questions: MapQuestion[]): Retries {
  return places
    .filter(({ role }) => role === "retry")
    .flatMap((place) => {
      const form = formOfRetry(place);
      if (form !== null) return [{ header: place.at, form }];
      questions.push({
        path: "wire.retryAfter",
        seen: `${place.at} is in no known form of time; it is left out.`,
        settle: "Find its form in the API's documentation.",
      });
      return [];
    });
}

/** Returns refusals by other statuses than 429: they advise when to come back, or nothing is left. */
function refusalsOf(seen: readonly SeenAnswers[], places: readonly AnswerPlace[]): Outcomes {
  const rules = new Map<string, Outcomes[number]>();
  for (const [index, { status }] of seen.entries()) {
    if (status < 400 || isRefusal(status) || isFailure(status)) continue;
    const advice = places.find(({ role, values }) => role === "retry" && values.has(index));
    const empty = places.find(({ role, values }) => role === "remaining" && values.get(index) === "0");
    const told = advice ?? empty;
    if (told === undefined || !told.isHeader) continue;
    const text = told === advice ? "*" : "0";
    rules.set(`${status} ${told.at}`, {
      outcome: "refused",
      status: [status],
      headers: { [told.at]: text },
    });
  }
  return [...rules.values()];
}
