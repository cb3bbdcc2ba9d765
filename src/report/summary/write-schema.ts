import { writeFileSync } from 'node:fs'
import { summarySchema } from './json-schema.ts'

/** `npm run schema` writes the JSON Schema of a run's summary. */
writeFileSync(new URL('../../../docs/schema/run-summary.json', import.meta.url), summarySchema())
