// The package's own version, read from its manifest both in the sources and as installed.
import { createRequire } from "node:module";

const manifest = createRequire(import.meta.url)("spillway/package.json") as { readonly version: string };

export const { version } = manifest;
