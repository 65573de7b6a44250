// The one file that imports yargs. The build bundles it: one module loads sooner than yargs's many, at every start.
// Its translations stay behind, since mistakes are explained by its English messages.
import yargs, { type Argv } from "yargs";

/** Makes a parser of command lines. */
export const commandParser = (): Argv => yargs().detectLocale(false);
