// Modules of peers that ship no types for what the benches use.
declare module "@fastify/rate-limit/store/LocalStore.js" {
  export default class LocalStore {
    constructor(continueExceeding: boolean, exponentialBackoff: boolean, cache: number);
    incr(
      key: string,
      counted: (error: unknown, result: { current: number; ttl: number }) => void,
      windowMs: number,
      max: number,
    ): void;
  }
}

declare module "simjs";
