// A store call that runs later: its caller gets a promise of the answer, on which further calls can be chained before
// the first has run. So `redis.multi().incr(key).exec()` is built at once, and runs as one step.

/** Box for a call's result: a query builder has a `then`, so a promise of the bare builder would send its query. */
interface Box {
  readonly value: unknown;
}

const promiseNames: ReadonlySet<string | symbol> = new Set(["then", "catch", "finally"]);

/**
 * Makes a promise of a call's answer. Any method other than a promise's is called on the result, once it is there.
 * @param run makes the call, when its turn among others comes
 */
export function chainedCall(run: () => Promise<Box>): Promise<unknown> {
  const made = run();
  // The error reaches whoever awaits the answer. A link that nobody awaits would make it an unhandled rejection.
  made.catch(() => {});
  const answer = new LazyPromise(() => made.then(({ value }) => value));
  return new Proxy(answer, {
    get(target, name) {
      if (promiseNames.has(name)) return target[name as "then"].bind(target);
      if (typeof name === "symbol" || name in target) return Reflect.get(target, name, target);
      return (...args: unknown[]) =>
        chainedCall(() => made.then(({ value }) => ({ value: called(value, name, args) })));
    },
  }) as unknown as Promise<unknown>;
}

function called(value: unknown, name: string, args: readonly unknown[]): unknown {
  const member: unknown = (value as Record<string, unknown> | null | undefined)?.[name];
  if (typeof member !== "function") throw new TypeError(`${name} is no method of what the store gave`);
  return member.apply(value, args);
}

/** A promise that is made only when somebody asks for its result. */
class LazyPromise {
  readonly #make: () => Promise<unknown>;
  #made: Promise<unknown> | null = null;

  constructor(make: () => Promise<unknown>) {
    this.#make = make;
  }

  #promise(): Promise<unknown> {
    this.#made ??= this.#make();
    return this.#made;
  }

  // biome-ignore lint/suspicious/noThenProperty: it stands for a promise
  then(...handlers: Parameters<Promise<unknown>["then"]>): Promise<unknown> {
    return this.#promise().then(...handlers);
  }

  catch(...handlers: Parameters<Promise<unknown>["catch"]>): Promise<unknown> {
    return this.#promise().catch(...handlers);
  }

  finally(...handlers: Parameters<Promise<unknown>["finally"]>): Promise<unknown> {
    return this.#promise().finally(...handlers);
  }
}
