import { writeFileSync } from 'node:fs'
import { commandsReference } from './commands.ts'
import { metricsReference } from './metrics.ts'
import { quantitiesReference } from './quantities.ts'
import { rulesReference } from './rules.ts'
import { tablesReference } from './tables.ts'

/** Files that `npm run reference` writes into docs/. */
export const references: Readonly<Record<string, () => string>> = {
  'commands.md': commandsReference,
  'metrics.md': metricsReference,
  'quantities.md': quantitiesReference,
  'rules.md': rulesReference,
  'tables.md': tablesReference,
}

if (import.meta.main) {
  for (const [name, text] of Object.entries(references)) {
    writeFileSync(new URL(`../docs/${name}`, import.meta.url), text())
  }
}
