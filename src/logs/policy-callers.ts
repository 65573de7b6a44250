// Callers under a policy: a log's users, with the attributes of quotas' keys; each combination is a number.
import { type Callers, EVERYONE } from "./callers.ts";
import { defaultOrganization, type LogCaller } from "./rows.ts";
import { bareToken, looksSecret } from "./secrets.ts";

export class LogCallers {
  readonly list: LogCaller[] = [];
  readonly #callers: Callers;
  readonly #numbers = new Map<string, number>();
  readonly #shown = new Map<string, string>();

  constructor(callers: Callers) {
    this.#callers = callers;
  }

  /** Returns the number of a caller. @param names attributes that identify it with their values, as written */
  of(organization: string, user: string, names: readonly (readonly [string, string])[]): number {
    const key = `${organization}\n${user}\n${names.join("\n")}`;
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    const attributes = Object.fromEntries(names.map(([name, value]) => [name, this.shown(value)]));
    const number = this.list.push({
      organization: this.shown(organization) || defaultOrganization,
      user: this.shown(user) || EVERYONE,
      attributes,
    });
    this.#numbers.set(key, number - 1);
    return number - 1;
  }

  /** Returns a name as it may be shown: a token as its fingerprint. */
  shown(name: string, isToken = false): string {
    if (!isToken && !looksSecret(name)) return name;
    const known = this.#shown.get(name) ?? this.#callers.fingerprint(bareToken(name));
    this.#shown.set(name, known);
    return known;
  }
}
