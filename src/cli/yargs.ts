// The one file that imports yargs. The build bundles it, because one module loads faster than yargs's many at every
// start. The bundle has no translations, because the code that explains mistakes reads yargs's English messages.
import yargs, { type Argv } from "yargs";

/** Makes a parser of command lines. */
export const commandParser = (): Argv => yargs().detectLocale(false);
