import { writeFileSync } from 'node:fs'
import { rulesReference } from '../../audit/rules/reference.ts'
import { metricsReference } from '../../measure/reference.ts'
import { quantitiesReference } from '../../measure/usage/reference.ts'
import { tablesReference } from '../../store/reference.ts'
import { commandsReference } from './reference.ts'

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
    writeFileSync(new URL(`../../../docs/${name}`, import.meta.url), text())
  }
}
