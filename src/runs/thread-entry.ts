// The module that a thread begins with.

/** Returns a thread's module of the built package, even if this runs from the sources: Node starts no thread from TypeScript. */
export const entryNamed = (name: string): URL =>
  new URL(
    import.meta.url.endsWith(".ts") ? `../../dist/src/runs/${name}.js` : `./${name}.js`,
    import.meta.url,
  );
