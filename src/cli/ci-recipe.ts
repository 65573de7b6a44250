// The recipe for builds that `spillway init --ci` writes: a shell script, and a GitHub Actions workflow that runs it.

import { shellCommand } from "../runs/run-place.ts";

/** Returns the shell script. @param dir the folder of agents.ts and rules.json, from the repository's root */
export const ciScript = (dir: string): string => `#!/bin/sh
# Simulates the scenario under the rules. Leaves report.html, summary.md and junit.xml in the folder that is named, and ends
# with 1 if a law or an expectation is violated. Any build server can run it: sh ${shellCommand([`${dir}/ci.sh`])} spillway-report
set -eu
npx spillway simulate ${shellCommand([`${dir}/agents.ts`])} --rules ${shellCommand([`${dir}/rules.json`])} --out "\${1:-spillway-report}"
`;

/** Returns the GitHub Actions workflow. @param dir the same as for \`ciScript\` */
export const githubWorkflow = (dir: string): string => `name: spillway
on:
  push:
    branches: [main]
  pull_request:
permissions:
  contents: read
  pull-requests: write
jobs:
  limits:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-node@v4
        with:
          node-version: 22
      - name: Install
        run: npm ci
      - name: Simulate and judge
        run: sh ${shellCommand([`${dir}/ci.sh`])} spillway-report
      - name: Show the summary
        if: always()
        run: cat spillway-report/summary.md >> "$GITHUB_STEP_SUMMARY"
      - name: Keep report and JUnit
        if: always()
        uses: actions/upload-artifact@v4
        with:
          name: spillway-report
          path: |
            spillway-report/report.html
            spillway-report/summary.md
            spillway-report/junit.xml
      - name: Comment on the pull request
        if: always() && github.event_name == 'pull_request' && github.event.pull_request.head.repo.full_name == github.repository
        env:
          GH_TOKEN: \${{ github.token }}
          NUMBER: \${{ github.event.pull_request.number }}
        run: gh pr comment "$NUMBER" --edit-last --body-file spillway-report/summary.md || gh pr comment "$NUMBER" --body-file spillway-report/summary.md
  audit:
    # Holds your staging to its limits: set the variables SPILLWAY_TARGET (a URL) and SPILLWAY_HOST (its host), and the secret
    # SPILLWAY_TOKENS (the text of a tokens file).
    if: vars.SPILLWAY_TARGET != ''
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-node@v4
        with:
          node-version: 22
      - name: Install
        run: npm ci
      - name: Audit
        env:
          TARGET: \${{ vars.SPILLWAY_TARGET }}
          ALLOWED: \${{ vars.SPILLWAY_HOST }}
          TOKENS: \${{ secrets.SPILLWAY_TOKENS }}
        run: umask 077 && printf '%s' "$TOKENS" > tokens.json && npx spillway audit --target "$TARGET" --allow-host "$ALLOWED" --policy ${shellCommand([`${dir}/rules.json`])} --tokens tokens.json -y --out spillway-audit
      - name: Show the summary of the audit
        if: always()
        run: cat spillway-audit/summary.md >> "$GITHUB_STEP_SUMMARY"
      - name: Keep the audit
        if: always()
        uses: actions/upload-artifact@v4
        with:
          name: spillway-audit
          path: spillway-audit
`;
