// The help of every verb, word by word. A change on purpose writes it anew; read the difference before you commit it:
//   npx vitest run --config test/vitest.config.ts test/cli/help-pages.test.ts --update
import { expect, test } from "vitest";
import { programHelp, verbHelp } from "../../src/cli/help.ts";
import { allVerbs } from "../../src/cli/verbs.ts";

test("the program's help and each verb's say what they said", async () => {
  const verbs = await allVerbs();
  const pages = [programHelp(verbs, 100), ...verbs.map((verb) => verbHelp(verb, 100))];
  await expect(`${pages.join(`\n\n${"-".repeat(100)}\n\n`)}\n`).toMatchFileSnapshot("./help-pages.txt");
});
