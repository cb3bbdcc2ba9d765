import { writeFileSync } from 'node:fs'
import { rulesReference } from './reference.ts'

/** `npm run rules`: writes the reference of rules. */
writeFileSync(new URL('../../../docs/rules.md', import.meta.url), rulesReference())
