// Forms that the parts of a policy file share. Each says what is allowed if a value does not fit.
import * as v from "valibot";
import { closest } from "../rules/closest.ts";
import { isPlainObject } from "../rules/plain-object.ts";

const most = Number.MAX_SAFE_INTEGER;

export const whole = (of: string, least = 1, greatest = most) => {
  const allowed = `a whole number of ${of} from ${least} to ${greatest}`;
  return v.pipe(
    v.number(allowed),
    v.integer(allowed),
    v.minValue(least, allowed),
    v.maxValue(greatest, allowed),
  );
};

export const text = (allowed: string) => v.pipe(v.string(allowed), v.nonEmpty(allowed));
export const oneOf = <const T extends readonly string[]>(values: T) =>
  v.picklist(values, ({ input }) => nearest(values, input));

/** Returns the allowed texts, in words, with the one that was probably meant. */
export function nearest(values: readonly string[], input: unknown): string {
  const list = `one of ${values.map((value) => JSON.stringify(value)).join(", ")}`;
  const meant = typeof input === "string" ? closest(input, values) : null;
  return meant === null ? list : `${list} (did you mean ${JSON.stringify(meant)}?)`;
}

/** Returns the schema of a list that is not empty. */
export const listOf = <const S extends v.GenericSchema>(item: S, allowed: string) =>
  v.pipe(v.array(item, allowed), v.minLength(1, `${allowed}, at least one`));

/** Returns the schema of these members and no others. A missing or unknown member is named with what is allowed. */
export function members<const E extends v.ObjectEntries>(entries: E) {
  const names = Object.keys(entries);
  const list = names.join(", ");
  return v.strictObject(entries, ({ expected, path }) => {
    if (expected === "Object") return `an object of ${list}`;
    if (expected !== "never") return "a value: it is required";
    const meant = closest(String(path?.at(-1)?.key), names);
    return meant === null ? `one of ${list}` : `one of ${list} (did you mean ${meant}?)`;
  });
}

/** Returns the schema of an object of these members and no others. Lists are objects to valibot. */
export const object = <const E extends v.ObjectEntries>(entries: E) =>
  v.pipe(
    v.custom<object>(isPlainObject, `an object of ${Object.keys(entries).join(", ")}`),
    members(entries),
  ) as unknown as ReturnType<typeof members<E>>;

export const namePattern = /^[A-Za-z_][\w.-]*$/;
const nameWords = "a name: a letter or _, then letters, digits, dots, dashes, underscores";
const reservedWords = "names other than those of every JavaScript object, as constructor and toString";
/** Tells whether JavaScript treats a name specially: every object seems to have it, or `v.record` drops it. */
const isReserved = (word: string): boolean => word in Object.prototype || word === "prototype";
export const name = v.pipe(
  v.string(nameWords),
  v.regex(namePattern, nameWords),
  v.check((word) => !isReserved(word), reservedWords),
);

export const byName = <const S extends v.GenericSchema>(
  what: string,
  value: S,
  key: v.GenericSchema<string, string> = name,
) =>
  v.pipe(
    v.custom<object>(isPlainObject, `an object of ${what} by name`),
    v.check((named) => !Object.keys(named).some(isReserved), reservedWords),
    v.record(key, value),
  ) as unknown as v.GenericSchema<Record<string, v.InferInput<S>>, Record<string, v.InferOutput<S>>>;

export type Shape<S extends v.GenericSchema> = Fixed<v.InferOutput<S>>;

/** A read-only value, at any depth: such data is written `as const`. */
export type Fixed<T> = T extends object ? { readonly [Member in keyof T]: Fixed<T[Member]> } : T;
